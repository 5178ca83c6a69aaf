export { parseCsr } from './csr/parse-csr.ts';
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
export { judge } from './judge.ts';
export type {
  CsrAttribute,
  CsrReading,
  Digest,
  NameAttribute,
  NameValueType,
  ParsedCsr,
  PublicKey,
  RelativeDistinguishedName,
  RequestedExtension,
  SanEntry,
  SignatureAlgorithm,
  SignedRequest,
} from './parsed-csr.ts';
export type { Requester, RequestTerms } from './requester.ts';
export type { DenyReason, PendingReason } from './rules/reasons.ts';
export { denyReasons, pendingReasons } from './rules/reasons.ts';
