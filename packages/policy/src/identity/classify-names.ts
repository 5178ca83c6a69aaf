import type { DenyReason } from '../rules/reasons.ts';

/** One name that is not the node's own. */
export interface NameFinding {
  readonly kind: 'dns' | 'ip';
  /** The name in a form that is safe to print. */
  readonly name: string;
  readonly code: Extract<
    DenyReason,
    'NameReserved' | 'NameOfAnotherMachine' | 'DnsNameNotOfNode' | 'IpAddressNotOfNode'
  >;
  /** Machines that hold the name, if `code` is `NameOfAnotherMachine`. */
  readonly machines: readonly string[];
}
