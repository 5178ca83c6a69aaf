import type { CertificateSigningRequest } from './csr/signing-request.ts';
import type { Decision, PolicyOptions } from './decision.ts';
import type { NodeReading } from './identity/node-identity.ts';
import type { SignedRequest } from './parsed-csr.ts';
import type { Rule } from './rules/rule.ts';
import type { SecondParser } from './second-parser.ts';

/** Outcome of checking a proof of possession. `unusableKey`: the key could not be imported. */
export type SignatureVerdict = 'valid' | 'invalid' | 'unusableKey';

/** What a decision borrows from outside: replaced in tests that prove each one matters. */
export interface DecisionParts {
  readonly verifySignature: (signed: SignedRequest) => SignatureVerdict;
  readonly secondParser: SecondParser;
  readonly rules: readonly Rule[];
}

/** `decideCsr` with every part given. */
export function decideCsrWith(
  _parts: DecisionParts,
  _csr: CertificateSigningRequest,
  _reading: NodeReading,
  _options: PolicyOptions = {},
): Decision {
  return { kind: 'pending', reason: 'NodeUnreadable', detail: 'The rules are not written yet.' };
}
