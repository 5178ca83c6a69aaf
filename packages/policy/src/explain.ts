import type { Assessment, RuleResult } from './assess.ts';
import type { Decision } from './decision.ts';
import type { DenyReason } from './rules/reasons.ts';
import type { Rule } from './rules/rule.ts';

/** What became of one rule of the table. */
export interface RuleExplanation {
  readonly code: DenyReason;
  readonly question: string;
  readonly step: 'structure' | 'names';
  readonly result:
    | { readonly kind: 'passed' }
    /** `details`: a sentence part for each occurrence, safe to print. */
    | { readonly kind: 'violated'; readonly details: readonly string[] }
    | { readonly kind: 'notJudged'; readonly reason: string };
}

/** A decision with every rule of the table, in its order. */
export interface Explanation {
  readonly decision: Decision;
  readonly rules: readonly RuleExplanation[];
}

/** Spells out what each rule found. */
export function explainAssessment({ decision, results }: Assessment): Explanation {
  return {
    decision,
    rules: [...results].map(([rule, result]) => explainRule(rule, result)),
  };
}

function explainRule({ code, question, step }: Rule, result: RuleResult): RuleExplanation {
  if (result.kind === 'notAsked') {
    return { code, question, step, result: { kind: 'notJudged', reason: result.because } };
  }
  return result.finding.length === 0
    ? { code, question, step, result: { kind: 'passed' } }
    : { code, question, step, result: { kind: 'violated', details: result.finding } };
}
