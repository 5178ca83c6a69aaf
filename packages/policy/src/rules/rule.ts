import type { PolicyOptions } from '../decision.ts';
import type { NameFinding } from '../identity/classify-names.ts';
import type { ParsedCsr } from '../parsed-csr.ts';
import type { Requester, RequestTerms } from '../requester.ts';
import type { DenyReason } from './reasons.ts';

/** What the rules read. Names were compared with the identity before the rules about them run. */
export interface RuleInput {
  /** The request, or the sentence that says why there is none. */
  readonly csr: ParsedCsr | undefined;
  readonly problem: string | undefined;
  /** `notJudged` where a key or an algorithm is refused or not implemented. */
  readonly signature: 'valid' | 'invalid' | 'notJudged';
  readonly requester: Requester;
  readonly terms: RequestTerms;
  readonly options: PolicyOptions;
  /** User name of the machine that the reading is about; undefined if it names none. */
  readonly machineUser: string | undefined;
  /** User name that the requester must have and the subject must carry. */
  readonly expectedUser: string;
  /** Every SAN entry that is not the node's own, with what it is instead. */
  readonly foreignNames: readonly NameFinding[];
}

/** What a broken rule found: one sentence part for each occurrence, and machines concerned. */
export interface RuleFinding {
  readonly details: readonly string[];
  readonly machines?: readonly string[];
}

/** One rule of the table: one question with one deny reason. */
export interface Rule {
  readonly code: DenyReason;
  /** What the rule asks, in words. */
  readonly question: string;
  /** `structure` rules need no identity, `names` rules compare with one. */
  readonly step: 'structure' | 'names';
  /** `object` rules read the Kubernetes object only; `bytes` rules need a request that was read. */
  readonly reads: 'object' | 'bytes';
  /** Undefined if the rule is kept. */
  readonly judge: (input: RuleInput) => RuleFinding | undefined;
}
