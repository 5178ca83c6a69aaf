import fc from 'fast-check';
import type { CertificateSigningRequest } from '../../csr/signing-request.ts';
import type { Decision, PolicyOptions } from '../../decision.ts';
import type { NodeReading } from '../../identity/node-identity.ts';
import type { Fault } from '../faults/fault.ts';
import type { CaseParts, RequestCase } from '../request-case.ts';

/** A decision function: `decideCsr`, or one that claims to do the same. */
export type Decide = (
  csr: CertificateSigningRequest,
  reading: NodeReading,
  options: PolicyOptions,
) => Decision;

/** What laws are checked on. */
export interface LawSubject {
  readonly decide: Decide;
  /** Makes the request of a case; a subject that looks at no signature can save it. */
  readonly build: (parts: CaseParts) => RequestCase;
  /** The faults that the subject judges. */
  readonly faults: readonly Fault[];
}

/** How often a law was checked, and how often there was something to check. */
export interface LawReport {
  readonly cases: number;
  readonly applied: number;
}

/** Seed and number of generated cases of a check. */
export interface LawRun {
  readonly seed: number;
  readonly cases: number;
  /** Whether a counterexample is made smaller before it is reported; `true` by default. */
  readonly shrink?: boolean;
}

/** Something that holds for every request. */
export interface DecisionLaw {
  /** The law in words. */
  readonly name: string;
  /** Share of the cases that this law should get, relative to the other laws. */
  readonly weight: number;
  /** Least share of cases that must have something to check, so that no law holds in vain. */
  readonly leastApplied: number;
  /** @throws Error with the smallest counterexample that was found */
  readonly check: (run: LawRun) => LawReport;
}

/** What a law says of one case: `void` if it was checked and held, `'idle'` if there was nothing. */
export type LawBody<T> = (generated: T) => 'idle' | undefined;

/** Makes a law; its body throws where it is broken. */
export function law<T>(
  name: string,
  { weight, leastApplied = 1 }: { readonly weight: number; readonly leastApplied?: number },
  arbitrary: fc.Arbitrary<T>,
  body: LawBody<T>,
): DecisionLaw {
  return {
    name,
    weight,
    leastApplied,
    check: ({ seed, cases, shrink = true }) => {
      let applied = 0;
      const property = fc.property(arbitrary, (generated) => {
        if (body(generated) !== 'idle') applied += 1;
      });
      fc.assert(property, { seed, numRuns: cases, endOnFailure: !shrink });
      return { cases, applied };
    },
  };
}

/** The reasons of a decision, sorted: codes of a denial, the one reason of a pending request. */
export function reasonsOf(decision: Decision): readonly string[] {
  if (decision.kind === 'approve') return [];
  if (decision.kind === 'pending') return [decision.reason];
  return [...new Set(decision.violations.map(({ code }) => code))].sort();
}

/** A decision in one line, as `deny RequestMalformed`. */
export function shown(decision: Decision): string {
  return [decision.kind, ...reasonsOf(decision)].join(' ');
}

/** Complains, with the decision and what it should have been. */
export function broken(decision: Decision, wanted: string): never {
  throw new Error(`got "${shown(decision)}", wanted "${wanted}": ${JSON.stringify(decision)}`);
}
