import { type Assessment, assess, assessSettled, prepare, signatureQuestionOf } from './assess.ts';
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
  const request = prepare(csr, nodeReading);
  if (request.kind === 'settled') return assessSettled(request, rules);
  const question = signatureQuestionOf(request);
  const verdict = question && verify(question);
  return assess(request, verdict, { rules, secondParser, options: options ?? {} });
}

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
