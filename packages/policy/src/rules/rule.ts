import type { PolicyOptions } from '../decision.ts';
import type { NameFinding } from '../identity/classify-names.ts';
import type { ParsedCsr } from '../parsed-csr.ts';
import type { Requester, RequestTerms } from '../requester.ts';
import type { DenyReason } from './reasons.ts';

/** What rules about the Kubernetes object read. */
export interface ObjectInput {
  /** Why there is no request that could be read; undefined if there is one. */
  readonly problem: string | undefined;
  readonly requester: Requester;
  readonly terms: RequestTerms;
  readonly options: PolicyOptions;
  /** User name that the requester must have and that the subject must carry. */
  readonly expectedUser: string;
}

/** What rules about the request itself read. */
export interface RequestInput extends ObjectInput {
  readonly csr: ParsedCsr;
  /** `notJudged` where the key or an algorithm is refused or not implemented. */
  readonly signature: 'valid' | 'invalid' | 'notJudged';
}

/** What rules about names read: names were compared with the identity before. */
export interface NamesInput {
  /** Every SAN entry that is not the node's own, with what it is instead. */
  readonly foreignNames: readonly NameFinding[];
}

/** What a broken rule found: a sentence part for each occurrence. Empty if the rule is kept. */
export type RuleFinding = readonly string[];

interface RuleRow {
  /** The deny reason; each has one rule. */
  readonly code: DenyReason;
  /** What the rule asks, in words. */
  readonly question: string;
}

/**
 * One rule: one question, one deny reason, one function. Rules of step `structure` need no
 * identity; those that read the `object` speak even if its bytes cannot be read. Rules of step
 * `names` compare with the identity of the node.
 */
export type Rule =
  | (RuleRow & {
      readonly step: 'structure';
      readonly reads: 'object';
      readonly judge: (input: ObjectInput) => RuleFinding;
    })
  | (RuleRow & {
      readonly step: 'structure';
      readonly reads: 'request';
      readonly judge: (input: RequestInput) => RuleFinding;
    })
  | (RuleRow & {
      readonly step: 'names';
      readonly reads: 'identity';
      readonly judge: (input: NamesInput) => RuleFinding;
    });
