import type { Decision, PolicyOptions } from './decision.ts';
import type { NodeReading } from './identity/node-identity.ts';
import type { ParsedCsr } from './parsed-csr.ts';
import type { Requester, RequestTerms } from './requester.ts';

/**
 * Judges what a request says, without its bytes: every rule of the table, in the precedence of
 * `decideCsr`, with the signature taken as valid and without the second parser. Signer and state of
 * the object are the caller's. Pure and total; for tests of rules at high volume.
 */
export function judge(
  _csr: ParsedCsr,
  _requester: Requester,
  _terms: RequestTerms,
  _reading: NodeReading,
  _options: PolicyOptions = {},
): Decision {
  return { kind: 'pending', reason: 'NodeUnreadable', detail: 'The rules are not written yet.' };
}
