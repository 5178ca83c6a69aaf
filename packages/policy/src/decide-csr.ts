import {
  type Assessment,
  assess,
  assessSettled,
  prepare,
  type SettledRequest,
  signatureQuestionOf,
} from './assess.ts';
import type { CertificateSigningRequest } from './csr/signing-request.ts';
import type { PolicyOptions } from './decision.ts';
import type { NodeReading } from './identity/node-identity.ts';
import type { Rule } from './rules/rule.ts';
import { ruleTable } from './rules/rule-table.ts';
import { readWithAsn1js, type SecondParser } from './second-parser.ts';
import type { SignatureQuestion, SignatureVerdict, SignatureVerifier } from './signature.ts';

/** Parts of a decision that tests replace, to prove that each of them matters. */
export interface DecisionParts {
  readonly rules?: readonly Rule[];
  readonly secondParser?: SecondParser;
}

/** Decides with a verifier that answers at once. */
export function assessCsr(
  verify: SignatureVerifier,
  csr: CertificateSigningRequest,
  nodeReading: NodeReading,
  options?: PolicyOptions,
  parts: DecisionParts = {},
): Assessment {
  const { rules = ruleTable, secondParser = readWithAsn1js } = parts;
  try {
    const request = prepare(csr, nodeReading);
    if (request.kind === 'settled') return assessSettled(request, rules);
    const question = signatureQuestionOf(request);
    const verdict = question && verify(question);
    return assess(request, verdict, { rules, secondParser, options: options ?? {} });
  } catch {
    return assessSettled(unjudgeable, rules);
  }
}

/**
 * For what no value that came as JSON can cause: an object whose getters throw, or a fault of ours
 * or of a library. Whoever calls is promised an answer, and nothing is approved on half a look.
 */
const unjudgeable: SettledRequest = {
  kind: 'settled',
  decision: {
    kind: 'pending',
    reason: 'RequestUnsupported',
    detail: 'Judging the request failed on the way.',
  },
};

/** The same with a verifier that answers later. */
export async function assessCsrLater(
  verify: (question: SignatureQuestion) => Promise<SignatureVerdict>,
  csr: CertificateSigningRequest,
  nodeReading: NodeReading,
  options?: PolicyOptions,
  parts: DecisionParts = {},
): Promise<Assessment> {
  const { rules = ruleTable, secondParser = readWithAsn1js } = parts;
  const request = prepare(csr, nodeReading);
  if (request.kind === 'settled') return assessSettled(request, rules);
  const question = signatureQuestionOf(request);
  const verdict = question && (await verify(question));
  return assess(request, verdict, { rules, secondParser, options: options ?? {} });
}
