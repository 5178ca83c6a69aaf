import fc from 'fast-check';
import type { DenyReason } from '../../rules/reasons.ts';
import { drawFrom } from '../draw.ts';
import { faultsOfBytes } from '../faults/bytes.ts';
import { faultsOfContents } from '../faults/contents.ts';
import type { Fault } from '../faults/fault.ts';
import { faultTable } from '../faults/fault-table.ts';
import { faultsOfKeys } from '../faults/keys.ts';
import { faultsOfNames } from '../faults/names.ts';
import { faultsOfRequester } from '../faults/requester.ts';
import { faultsOfState } from '../faults/state.ts';
import {
  buildCase,
  type CaseParts,
  type ExpectedDecision,
  type RequestCase,
} from '../request-case.ts';
import { honestCases } from './honest-requests.ts';

/** A case with exactly one fault, before its request is built. */
export interface NearMissParts extends CaseParts {
  readonly fault: string;
  readonly expect: ExpectedDecision;
  /** The same case without the fault: it must be approved. */
  readonly honest: CaseParts;
}

/** A request with exactly one fault, with what it must earn. */
export type NearMiss = NearMissParts & RequestCase;

function spoilt(honest: CaseParts, fault: Fault, seed: number): NearMissParts | null {
  const parts = fault.spoil(honest, drawFrom(seed));
  return parts === null ? null : { ...parts, fault: fault.name, expect: fault.expect, honest };
}

/** Near misses before they are built and signed; of these faults only, if any are given. */
export function nearMissCases(faults: readonly Fault[] = faultTable): fc.Arbitrary<NearMissParts> {
  return fc
    .tuple(honestCases(), fc.constantFrom(...faults), fc.nat())
    .map(([honest, fault, seed]) => spoilt(honest, fault, seed))
    .filter((parts) => parts !== null);
}

/**
 * Honest requests with exactly one fault, each with the reasons that it must earn: every reason
 * that there is but `ParsersDisagree`, which no request earns as long as both parsers are right.
 */
export function nearMisses(): fc.Arbitrary<NearMiss> {
  return nearMissCases().map(buildCase);
}

const groups = [
  faultsOfBytes,
  faultsOfKeys,
  faultsOfRequester,
  faultsOfContents,
  faultsOfNames,
  faultsOfState,
] as const;

/** Cases with two or three of these faults, each of another group; none may be approved. */
export function faultyCases(faults: readonly Fault[] = faultTable): fc.Arbitrary<CaseParts> {
  const usable = groups
    .map((group) => group.filter((fault) => faults.includes(fault)))
    .filter((group) => group.length > 0);
  return fc
    .tuple(honestCases(), fc.subarray(usable, { minLength: 2, maxLength: 3 }), fc.nat())
    .map(([honest, chosen, seed]) => {
      const draw = drawFrom(seed);
      return chosen.reduce<CaseParts>((parts, group) => {
        const fault = group[draw.below(group.length)];
        return fault?.spoil(parts, draw) ?? parts;
      }, honest);
    });
}

/** Two faults that are judged in the same step and do not hide one another. */
export function twoDenials(): fc.Arbitrary<NearMissParts> {
  const denying = (faults: readonly Fault[]) =>
    fc.constantFrom(...faults.filter(({ expect }) => expect.kind === 'deny'));
  return fc
    .tuple(honestCases(), denying(faultsOfRequester), denying(faultsOfContents), fc.nat())
    .map(([honest, requester, contents, seed]) => {
      const draw = drawFrom(seed);
      const parts = contents.spoil(honest, draw);
      const both = parts && requester.spoil(parts, draw);
      if (both === null) return null;
      const reasons = [...requester.expect.reasons, ...contents.expect.reasons];
      const expect: ExpectedDecision = {
        kind: 'deny',
        reasons: reasons as [DenyReason, ...DenyReason[]],
      };
      return {
        ...both,
        fault: `${requester.name}, and ${contents.name}`,
        expect,
        honest,
      };
    })
    .filter((parts) => parts !== null);
}
