/**
 * What a decision costs: a full one (parse, signature, every rule, second parser, evidence) as a
 * multiple of the one thing that it cannot do without, a bare P-256 verification whose key is
 * already imported. What is measured is processor time, all threads of the process together, as if
 * there were one core. Rounds are short and interleaved, so that a busy machine slows both alike and
 * the median is a round that nothing interrupted; the mean, which holds the collector and every
 * interruption, stands beside it. Exits with 1 if a decision costs more than `mostVerifications`
 * verifications.
 */
import { randomBytes, verify } from 'node:crypto';
import { type CertificateSigningRequest, decideCsr } from '@ichor/policy';
import {
  baselineReading,
  buildRequest,
  poolKey,
  signBytes,
  textBytes,
} from '@ichor/policy/testing';

const mostVerifications = 6;
const rounds = 5000;
const roundsOfNoise = 300;

const key = poolKey('P-256');
const message = textBytes('a CertificationRequestInfo is about this long '.repeat(5));
const signature = signBytes(message, key, 'ecdsa-sha256');
// The policy declares the little of node:crypto that it uses, and no key objects.
const imported = key.publicKey as never;
const honest = buildRequest();
const garbage = (bytes: Uint8Array): CertificateSigningRequest => ({
  ...honest,
  spec: { ...honest.spec, request: Buffer.from(bytes).toString('base64') },
});
const noise = randomBytes(200 * 1024);
const armoured = `-----BEGIN CERTIFICATE REQUEST-----\n${noise.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
const bounded = `-----BEGIN CERTIFICATE REQUEST-----\n${noise.subarray(0, 48_000).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;

interface Contender {
  readonly name: string;
  readonly iterations: number;
  /** Returns what it found, so that no work is optimised away and each run is checked. */
  readonly run: () => string;
  readonly expected: string;
}

const decided = (csr: CertificateSigningRequest) => () => decideCsr(csr, baselineReading).kind;

const bare: Contender = {
  name: 'bare P-256 verification',
  iterations: 5,
  run: () => String(verify('sha256', message, imported, signature)),
  expected: 'true',
};
const full: Contender = {
  name: 'full decision (approve)',
  iterations: 1,
  run: decided(honest),
  expected: 'approve',
};
const noises: readonly Contender[] = [
  {
    name: '200 KiB of noise',
    iterations: 50,
    run: decided(garbage(noise)),
    expected: 'deny',
  },
  {
    name: '200 KiB of noise in PEM',
    iterations: 50,
    run: decided(garbage(Buffer.from(armoured))),
    expected: 'deny',
  },
  {
    name: '64 KiB of noise in PEM (largest that is read)',
    iterations: 1,
    run: decided(garbage(Buffer.from(bounded))),
    expected: 'deny',
  },
];

/** Microseconds of processor time a run, over one round. */
function roundOf({ name, iterations, run, expected }: Contender): number {
  const start = process.cpuUsage();
  for (let iteration = 0; iteration < iterations; iteration += 1) {
    const found = run();
    if (found !== expected) throw new Error(`${name} gave ${found}, not ${expected}`);
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / iterations;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

interface Cost {
  readonly median: number;
  readonly mean: number;
}

/** Measures contenders in turns, after as many turns that warm up; microseconds. */
function compare(contenders: readonly Contender[], rounds: number): readonly Cost[] {
  const measured = contenders.map(() => [] as number[]);
  for (let round = -rounds; round < rounds; round += 1) {
    contenders.forEach((contender, index) => {
      const time = roundOf(contender);
      if (round >= 0) measured[index]?.push(time);
    });
  }
  return measured.map((times) => ({
    median: median(times),
    mean: times.reduce((sum, time) => sum + time, 0) / rounds,
  }));
}

const unmeasured: Cost = { median: Number.NaN, mean: Number.NaN };

function line(name: string, ...columns: readonly string[]): string {
  return name.padEnd(48) + columns.map((column) => column.padStart(15)).join('');
}

function row(name: string, cost: Cost, verification: Cost): string {
  const ratios = [cost.median / verification.median, cost.mean / verification.mean];
  return line(name, cost.median.toFixed(1), ...ratios.map((each) => each.toFixed(2)));
}

const [bareCost = unmeasured, fullCost = unmeasured] = compare([bare, full], rounds);
// Noise has rounds of its own, so that it does not decide what is in the caches of the others.
const [bareBeside = unmeasured, ...noiseCosts] = compare([bare, ...noises], roundsOfNoise);

console.log(`Interleaved rounds, processor time, Node ${process.versions.node}\n`);
console.log(line('what', 'median, µs', 'verifications', 'in the mean'));
console.log(row(bare.name, bareCost, bareCost));
console.log(row(full.name, fullCost, bareCost));
noises.forEach(({ name }, index) => {
  console.log(row(name, noiseCosts[index] ?? unmeasured, bareBeside));
});

const ratio = fullCost.median / bareCost.median;
const kept = ratio <= mostVerifications;
console.log(
  `\nA full decision costs ${ratio.toFixed(2)} bare verifications; at most ${mostVerifications} are expected: ${kept ? 'kept' : 'EXCEEDED'}.`,
);
process.exitCode = kept ? 0 : 1;
