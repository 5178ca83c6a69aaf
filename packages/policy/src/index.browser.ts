import type { CertificateSigningRequest } from './csr/signing-request.ts';
import { assessCsrLater } from './decide-csr.ts';
import type { Decision, PolicyOptions } from './decision.ts';
import { type Explanation, explainAssessment } from './explain.ts';
import type { NodeReading } from './identity/node-identity.ts';
import { verifySignatureOnWeb } from './signature.web.ts';

export { parseCsr } from './csr/parse-csr.ts';
export type { CertificateSigningRequest } from './csr/signing-request.ts';
export type { Decision, Evidence, PolicyOptions, Violation } from './decision.ts';
export type { Explanation, RuleExplanation } from './explain.ts';
export { type Cidr, parseCidr } from './identity/cidr.ts';
export { foldDnsName } from './identity/dns-name.ts';
export type { IdentityConflict } from './identity/identity-conflict.ts';
export { formatIpAddress, parseIpAddress, unmapAddress } from './identity/ip-address.ts';
export type {
  NodeIdentity,
  NodeReading,
  OtherMachine,
  ReservedNames,
  Source,
  SourcedValue,
} from './identity/node-identity.ts';
export { NODES_GROUP, nodeNameOf, nodeUserOf, SIGNER_NAME } from './identity/node-user.ts';
export {
  type CertificateProblem,
  type IssuedCertificate,
  readIssuedCertificate,
} from './issued-certificate.ts';
export { judge } from './judge.ts';
export { type MachineOfRequest, machineOf } from './machine-of.ts';
export {
  identityConflicts,
  type NamesAsText,
  type NameViolation,
  othersHolding,
  violationsOfNames,
} from './names-of-machines.ts';
export type { Octets } from './octets.ts';
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

/**
 * Decides a kubelet serving certificate request against the identity of its node, with the
 * WebCrypto of the platform. Decides exactly as the entry for Node does, only later.
 *
 * @throws Error (as a rejection) if the platform has no WebCrypto.
 */
export async function decideCsr(
  csr: CertificateSigningRequest,
  nodeReading: NodeReading,
  options?: PolicyOptions,
): Promise<Decision> {
  return (await assessCsrLater(verifySignatureOnWeb, csr, nodeReading, options)).decision;
}

/**
 * Decides like `decideCsr`, and says of every rule of the table whether it is kept, broken or was
 * not judged, and why. The broken rules are exactly those of the decision.
 *
 * @throws Error (as a rejection) if the platform has no WebCrypto.
 */
export async function explain(
  csr: CertificateSigningRequest,
  nodeReading: NodeReading,
  options?: PolicyOptions,
): Promise<Explanation> {
  return explainAssessment(await assessCsrLater(verifySignatureOnWeb, csr, nodeReading, options));
}
