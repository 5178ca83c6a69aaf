/**
 * Takes every rule and every step of a decision away, one at a time, in a copy of the build, and
 * reports which vector and which law notice first. A removal that nobody notices is a rule that
 * nothing proves: exit code 1.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  baselineReading,
  buildCase,
  buildRequest,
  type DecisionLaw,
  decisionLaws,
  faultTable,
  hostileLaws,
  secondParserLaw,
  secondParserLies,
  shown,
} from '@ichor/policy/testing';
import { type ChangedPolicy, loadWithout, type Removal } from './changed-build.ts';
import { removals } from './removals.ts';
import { vectorsThatNotice } from './vectors.ts';

const seed = Number(process.env['ICHOR_SEED'] ?? 1);
const casesOfNearMisses = 2500;
const casesOfOthers = 250;

function lawsOf({ decide, decideWithLie }: ChangedPolicy): readonly DecisionLaw[] {
  const all = [
    ...decisionLaws({ decide, build: buildCase, faults: faultTable }),
    ...hostileLaws(decide),
    secondParserLaw(decideWithLie),
  ];
  // The near misses notice most and are asked first.
  return all.sort((left, right) => right.weight - left.weight);
}

/** The first law that does not hold any more. */
function lawThatNotices(policy: ChangedPolicy): string | null {
  const broken = lawsOf(policy).find(({ check }, index) => {
    try {
      check({ seed, cases: index === 0 ? casesOfNearMisses : casesOfOthers, shrink: false });
      return false;
    } catch {
      return true;
    }
  });
  return broken?.name ?? null;
}

/** Lies about the baseline that a changed build believes; no vector can tell them. */
function believedLies({ decideWithLie }: ChangedPolicy): readonly string[] {
  const csr = buildRequest();
  return secondParserLies
    .filter(({ tell }) => {
      const decision = decideWithLie(tell)(csr, baselineReading, {});
      return shown(decision) !== 'pending ParsersDisagree';
    })
    .map(({ name }) => `lie: ${name}`);
}

interface Finding {
  readonly name: string;
  readonly vectors: readonly string[];
  readonly law: string | null;
}

async function findingOf(removal: Removal | null, directory: string): Promise<Finding> {
  const policy = await loadWithout(removal, directory);
  return {
    name: removal?.name ?? 'nothing (control)',
    vectors: [...vectorsThatNotice(policy.decide), ...believedLies(policy)],
    law: lawThatNotices(policy),
  };
}

function printed({ name, vectors, law }: Finding): string {
  const first = vectors[0] ?? '-';
  return `${name.padEnd(46)}${String(vectors.length).padStart(7)}  ${first.padEnd(10)}  ${law ?? '-'}`;
}

const directory = mkdtempSync(join(tmpdir(), 'ichor-rules-matter-'));
let unnoticed = 0;
try {
  console.log(`${'taken away'.padEnd(46)}vectors  first       law`);
  const control = await findingOf(null, join(directory, 'control'));
  console.log(printed(control));
  if (control.vectors.length > 0 || control.law !== null) {
    throw new Error('the policy as it is breaks a vector or a law; removals would prove nothing');
  }
  for (const [index, removal] of removals.entries()) {
    const finding = await findingOf(removal, join(directory, String(index)));
    const noticed = finding.vectors.length > 0 && finding.law !== null;
    if (!noticed) unnoticed += 1;
    console.log(`${printed(finding)}${noticed ? '' : '   <- UNNOTICED'}`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
console.log(
  unnoticed === 0
    ? `\nAll ${removals.length} removals are noticed by a vector and a law (seed ${seed}).`
    : `\n${unnoticed} of ${removals.length} removals are not noticed by both (seed ${seed}).`,
);
process.exitCode = unnoticed === 0 ? 0 : 1;
