import type { PolicyOptions } from '../decision.ts';
import type { NodeIdentity, NodeReading } from '../identity/node-identity.ts';
import type { DenyReason, PendingReason } from '../rules/reasons.ts';
import type { GeneralName } from './general-name.ts';
import { buildRequest, type RequestChanges, type SigningRequestObject } from './signing-request.ts';

/** What a decision must be: its kind and, as a set, all its reasons. */
export type ExpectedDecision =
  | { readonly kind: 'approve'; readonly reasons: readonly [] }
  | { readonly kind: 'deny'; readonly reasons: readonly [DenyReason, ...DenyReason[]] }
  | { readonly kind: 'pending'; readonly reasons: readonly [PendingReason] };

/** A decision's three inputs, the request still as the changes that make it. */
export interface CaseParts {
  readonly changes: RequestChanges;
  /** Entries of the SAN; the changes repeat them unless a fault has replaced the bytes. */
  readonly san: readonly GeneralName[];
  /** What the machine reports when it is read. */
  readonly identity: NodeIdentity;
  readonly reading: NodeReading;
  readonly options: PolicyOptions;
}

/** A decision's three inputs. */
export interface RequestCase extends CaseParts {
  readonly csr: SigningRequestObject;
}

/** Builds and signs the request of a case. */
export function buildCase<T extends CaseParts>(parts: T): T & RequestCase {
  return { ...parts, csr: buildRequest(parts.changes) };
}

/** The case with another SAN. */
export function withSan<T extends CaseParts>(parts: T, san: readonly GeneralName[]): T {
  return { ...parts, san, changes: { ...parts.changes, san } };
}

/** The case with changes on top of its own. */
export function withChanges<T extends CaseParts>(parts: T, changes: RequestChanges): T {
  return { ...parts, changes: { ...parts.changes, ...changes } };
}

/** The case with another report of the machine, which was read. */
export function withIdentity<T extends CaseParts>(parts: T, identity: NodeIdentity): T {
  return { ...parts, identity, reading: { kind: 'read', identity } };
}
