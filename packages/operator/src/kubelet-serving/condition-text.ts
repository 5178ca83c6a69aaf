import type { DecisionCondition } from '@ichor/k8s-adapter';
import type { Decision } from '@ichor/policy';

/** Longest message of a condition that the operator writes, in characters. */
export const maxMessage = 1_024;

/**
 * The condition to append for a decision; undefined for `pending`, for which nothing is written.
 *
 * A denial's reason is the first violation in table order, its message all of them; the details
 * arrive with strangers' text already quoted and escaped.
 */
export function conditionFor(decision: Decision): DecisionCondition | undefined {
  switch (decision.kind) {
    case 'approve':
      return {
        type: 'Approved',
        reason: 'IchorKubeletServing',
        message: cut(
          `Node ${decision.node} has these names: ${decision.evidence
            .map(({ kind, name, source }) => `${kind === 'dns' ? 'DNS' : 'IP'} ${name} (${source})`)
            .join(', ')}`,
        ),
      };
    case 'deny':
      return {
        type: 'Denied',
        reason: decision.violations[0].code,
        message: cut(decision.violations.map((v) => `${v.code}: ${v.detail}`).join(' ')),
      };
    case 'pending':
      return undefined;
  }
}

/** Cuts a text to what a message may hold, never inside a surrogate pair. */
export function cut(text: string, limit = maxMessage): string {
  if (text.length <= limit) return text;
  const shortened = text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${shortened}…`;
}
