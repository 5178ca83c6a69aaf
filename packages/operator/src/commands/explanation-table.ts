import type { Decision, Explanation } from '@ichor/policy';

const marks = { passed: '✓', violated: '✗', notJudged: '·' } as const;

/** Every rule with what it found, then the decision, as text for people. */
export function explanationTable({ decision, rules }: Explanation): string {
  const width = Math.max(...rules.map(({ code }) => code.length));
  const indent = ' '.repeat(width + 4);
  const lines = rules.flatMap(({ code, question, result }) => [
    `${marks[result.kind]} ${code.padEnd(width)}  ${question}`,
    ...findings(result).map((finding) => `${indent}→ ${finding}`),
  ]);
  return `${lines.join('\n')}\n\n${decisionText(decision)}`;
}

function findings(result: Explanation['rules'][number]['result']): readonly string[] {
  switch (result.kind) {
    case 'passed':
      return [];
    case 'violated':
      return result.details;
    case 'notJudged':
      return [`not judged: ${result.reason}`];
  }
}

/** The decision in a few lines. */
export function decisionText(decision: Decision): string {
  switch (decision.kind) {
    case 'approve':
      return `approve: every name belongs to node ${decision.node}\n${decision.evidence
        .map(
          ({ kind, name, source }) => `  ${kind === 'dns' ? 'DNS' : 'IP '} ${name}  (${source})\n`,
        )
        .join('')}`;
    case 'deny':
      return `deny: ${decision.violations.map(({ code }) => code).join(', ')}\n`;
    case 'pending':
      return `pending: ${decision.reason}: ${decision.detail}\n`;
  }
}
