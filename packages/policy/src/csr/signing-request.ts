/**
 * The part of a `certificates.k8s.io/v1` CertificateSigningRequest that decisions read. An object
 * as an API client returns it can be passed in as it is; unknown fields are ignored, absent ones
 * are judged as absent. (Kubernetes `staging/src/k8s.io/api/certificates/v1/types.go`)
 */
export interface CertificateSigningRequest {
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly deletionTimestamp?: string | Date | null;
  };
  readonly spec: {
    /** Base64 of the PEM text. */
    readonly request?: string;
    readonly signerName?: string;
    /** Seconds. */
    readonly expirationSeconds?: number | null;
    readonly usages?: readonly string[] | null;
    /** Set by the API server from the authenticated user. */
    readonly username?: string;
    readonly groups?: readonly string[] | null;
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string }[] | null;
    /** Base64 of the PEM text. */
    readonly certificate?: string | null;
  } | null;
}
