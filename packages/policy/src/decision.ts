import type { Source } from './identity/node-identity.ts';
import type { DenyReason, PendingReason } from './rules/reasons.ts';

/** One broken rule. `detail` is a sentence that may quote the request; it is safe to print. */
export interface Violation {
  readonly code: DenyReason;
  readonly detail: string;
  /** With `NameOfAnotherMachine` only: the machines that hold what was asked for. */
  readonly machines?: readonly string[];
}

/** Why one requested name is the node's own. */
export interface Evidence {
  /** The name as requested: a DNS name, or an address in canonical text. */
  readonly name: string;
  readonly kind: 'dns' | 'ip';
  readonly source: Source;
}

/** What to do with a request. `pending` means that nothing is written to it. */
export type Decision =
  | { readonly kind: 'approve'; readonly node: string; readonly evidence: readonly Evidence[] }
  | { readonly kind: 'deny'; readonly violations: readonly [Violation, ...Violation[]] }
  | {
      readonly kind: 'pending';
      readonly reason: PendingReason;
      readonly detail: string;
      readonly violations?: readonly Violation[];
      /** With `IdentityConflict` only: the machines that report the same as this one. */
      readonly machines?: readonly string[];
    };

/** Options of a cluster that change decisions. */
export interface PolicyOptions {
  /** What becomes of a name that is nobody's: `deny` (default) or leave the request `pending`. */
  readonly unknownNames?: 'deny' | 'pending';
  /** Longest `spec.expirationSeconds` that is approved, in seconds; no limit by default. */
  readonly maxExpirationSeconds?: number;
}
