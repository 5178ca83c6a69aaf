export type { CertificateSigningRequest } from './csr/signing-request.ts';
export type { Decision, Evidence, PolicyOptions, Violation } from './decision.ts';
export type {
  NodeIdentity,
  NodeReading,
  OtherMachine,
  ReservedNames,
  Source,
  SourcedValue,
} from './identity/node-identity.ts';
export type { DenyReason, PendingReason } from './rules/reasons.ts';
export { denyReasons, pendingReasons } from './rules/reasons.ts';
