/**
 * Where a name or an address of a node was read.
 *
 * `NodeIP`, `Nodename` and `HostnameStatus` are Talos resources that the node's operating system
 * makes for its kubelet. `ExternalAddress` is an `AddressStatus` on the pseudo link `external`,
 * `PlatformMetadata` what the cloud told Talos about the machine. `Configured` is what the
 * administrator added for the cluster.
 */
export type Source =
  | 'NodeIP'
  | 'Nodename'
  | 'HostnameStatus'
  | 'ExternalAddress'
  | 'PlatformMetadata'
  | 'Configured';

/** A DNS name, an IP address or a CIDR as text, with the place it was read from. */
export interface SourcedValue {
  readonly value: string;
  readonly source: Source;
}

/** What another managed machine of the same cluster holds. */
export interface OtherMachine {
  /** Name of the machine, for messages only. */
  readonly machine: string;
  readonly dnsNames: readonly SourcedValue[];
  readonly ipAddresses: readonly SourcedValue[];
}

/** What no node may ever be certified for in this cluster: VIPs, endpoint, service and pod ranges. */
export interface ReservedNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** CIDRs, such as `10.96.0.0/12`. */
  readonly subnets: readonly string[];
}

/** Everything a decision knows about the machine that a request is about. */
export interface NodeIdentity {
  /** The machine's node name, as the kubelet uses it after `system:node:`. */
  readonly nodeName: string;
  readonly dnsNames: readonly SourcedValue[];
  readonly ipAddresses: readonly SourcedValue[];
  /** Additional subnets that the administrator configured; mostly empty. */
  readonly subnets: readonly SourcedValue[];
  readonly reserved: ReservedNames;
  readonly others: readonly OtherMachine[];
}

/** The outcome of asking a machine who it is. */
export type NodeReading =
  | { readonly kind: 'read'; readonly identity: NodeIdentity }
  | { readonly kind: 'unreadable'; readonly nodeName: string; readonly cause: string }
  | { readonly kind: 'notRead'; readonly nodeName: string }
  | { readonly kind: 'unmanaged' };
