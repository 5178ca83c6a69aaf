/** `ichor.dev/v1alpha1` objects as the operator sees them: parsed, with every default filled in. */

/** A `metav1.Condition`. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** RFC 3339; changes only when `status` changes. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** What all objects have. */
export interface ObjectIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
}

/** A parsed TalosCluster. */
export interface TalosCluster extends ObjectIdentity {
  readonly spec: {
    readonly talos: {
      readonly contract: string | undefined;
      readonly endpoints: readonly string[];
      readonly talosconfigSecret: string | undefined;
    };
    readonly kubernetes: {
      readonly version: string | undefined;
      /** URL of the control-plane endpoint. */
      readonly endpoint: string | undefined;
      readonly kubeconfigSecret: string | undefined;
    };
    readonly servingCertificates: {
      readonly enabled: boolean;
      readonly verifyFromAPIServer: boolean;
      readonly unknownNames: 'Deny' | 'Pending';
      readonly maxExpirationSeconds: number | undefined;
      readonly extraDNSNames: readonly string[];
      readonly extraSubnets: readonly string[];
      readonly probe: boolean;
    };
    readonly reserved: {
      readonly dnsNames: readonly string[];
      readonly ipAddresses: readonly string[];
      readonly subnets: readonly string[];
    };
    readonly configManagement: 'Render' | 'Apply';
  };
  readonly status: TalosClusterStatus;
}

/** Status of a TalosCluster; absent parts are empty. */
export interface TalosClusterStatus {
  readonly observedGeneration: number | undefined;
  readonly machines: { readonly total: number; readonly certified: number } | undefined;
  readonly conditions: readonly Condition[];
}

/** A parsed TalosMachine. */
export interface TalosMachine extends ObjectIdentity {
  readonly spec: {
    readonly cluster: string;
    readonly machineType: 'controlplane' | 'worker';
    readonly address: string;
    readonly hostname: string | undefined;
  };
  readonly status: TalosMachineStatus;
}

/** Status of a TalosMachine; absent parts are undefined. */
export interface TalosMachineStatus {
  readonly nodeName: string | undefined;
  readonly identity: MachineIdentity | undefined;
  readonly kubeletServingCertificate: ServingCertificateRecord | undefined;
}

/** What a machine said when it was last read. */
export interface MachineIdentity {
  /** RFC 3339. */
  readonly observedAt: string;
  readonly dnsNames: readonly { readonly value: string; readonly source: string }[];
  readonly ipAddresses: readonly { readonly value: string; readonly source: string }[];
  /** `excludeSubnets` of a control plane, verbatim; undefined for a worker. */
  readonly reserved: readonly string[] | undefined;
}

/** A certificate that was issued to a machine's kubelet. */
export interface ServingCertificateRecord {
  /** Name of the CSR. */
  readonly request: string;
  /** notBefore, RFC 3339. */
  readonly issuedAt: string;
  /** RFC 3339. */
  readonly notAfter: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** SHA-256 of the DER, lower-case hexadecimal. */
  readonly fingerprint: string;
  /** True where the certificate was found on the node instead of in a CSR. */
  readonly adopted: boolean;
}

/** An object that the API server stores and that we cannot use, with a sentence naming the field. */
export interface InvalidObject extends ObjectIdentity {
  readonly problem: string;
  /** Name of the TalosCluster that a TalosMachine says it is of, where it can be read. */
  readonly cluster?: string;
}

/** A watched custom resource: usable, or not. */
export type Parsed<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'invalid'; readonly value: InvalidObject };
