/** Endpoints and mutual TLS material of one talosconfig context. PEM texts; the key as PKCS #8. */
export interface TalosAccess {
  /** Control-plane endpoints, `host` or `host:port` (default port 50000). */
  readonly endpoints: readonly string[];
  readonly ca: string;
  readonly crt: string;
  readonly key: string;
}

/** The machine to ask, as the inventory knows it. Never taken from a request. */
export interface NodeTarget {
  /** Address to dial; its server certificate must hold it. An IP address or a host name. */
  readonly address: string;
  /** `NodeIPConfig` is read on control planes only, and must exist there. */
  readonly controlPlane: boolean;
}

/** What a node's operating system says about itself. Addresses are canonical text. */
export interface NodeFacts {
  /** `Nodename`: the name the kubelet registers. */
  readonly nodeName: string;
  /** `NodeIP` `kubelet`: what Talos gives the kubelet as `--node-ip`; may be empty. */
  readonly nodeIps: readonly string[];
  /** `HostnameStatus`. */
  readonly hostname: string;
  /** `HostnameStatus`; empty when there is none. */
  readonly domainname: string;
  /** `AddressStatus` on the pseudo link `external`. */
  readonly externalAddresses: readonly string[];
  /** `PlatformMetadata`: host name, internal and external DNS names that are not empty. */
  readonly platformNames: readonly string[];
  /** `NodeIPConfig.excludeSubnets`, verbatim; undefined on workers. */
  readonly excludeSubnets: readonly string[] | undefined;
  /** How the node was reached. */
  readonly route: 'direct' | 'forwarded';
}

/** Asks Talos nodes. One client serves every node of one cluster. */
export interface TalosClient {
  /**
   * Reads everything a decision needs, all or nothing, within one deadline.
   *
   * Dials the node itself first; where that cannot connect, a control-plane endpoint with `node`
   * routing. A certificate error never falls through to the other route. The route that worked is
   * tried first the next time.
   *
   * @throws TalosError with one of its codes, never anything else.
   */
  readNodeFacts(target: NodeTarget): Promise<NodeFacts>;
  /** Closes all connections. Reads in flight fail with `unreachable`. */
  close(): void;
}
