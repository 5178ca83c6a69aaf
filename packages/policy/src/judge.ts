import { assess, assessSettled, settleReading } from './assess.ts';
import type { Decision, PolicyOptions } from './decision.ts';
import type { NodeReading } from './identity/node-identity.ts';
import { checkReading } from './identity/node-reading.ts';
import type { ParsedCsr } from './parsed-csr.ts';
import type { Requester, RequestTerms } from './requester.ts';
import type { Rule } from './rules/rule.ts';
import { ruleTable } from './rules/rule-table.ts';

/**
 * Judges what a request says, without its bytes: every rule of the table, in the precedence of
 * `decideCsr`, with the signature taken as valid and without the second parser. Signer and state of
 * the object are the caller's. Pure and total; for tests of rules at high volume.
 *
 * `rules` is the table, unless a test leaves a rule out to see who notices.
 */
export function judge(
  csr: ParsedCsr,
  requester: Requester,
  terms: RequestTerms,
  nodeReading: NodeReading,
  options: PolicyOptions = {},
  rules: readonly Rule[] = ruleTable,
): Decision {
  const reading = settleReading(checkReading(nodeReading));
  if (reading.kind === 'settled') return assessSettled(reading, rules).decision;
  const open = { kind: 'open', reading, requester, terms, csr, problem: undefined } as const;
  const secondParser = () => undefined;
  return assess(open, 'valid', { rules, options, secondParser }).decision;
}
