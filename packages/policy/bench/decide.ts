/**
 * What a decision costs: a full one (parse, signature, every rule, second parser, evidence) as a
 * multiple of the one thing that it cannot do without, a bare P-256 verification whose key is
 * already imported. What is measured is processor time, all threads of the process together, as if
 * there were one core; rounds are interleaved, so that a busy machine slows both alike. Exits with
 * 1 if a decision costs more than `mostVerifications` verifications.
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
const rounds = 120;

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

const contenders: readonly Contender[] = [
  {
    name: 'bare P-256 verification',
    iterations: 100,
    run: () => String(verify('sha256', message, imported, signature)),
    expected: 'true',
  },
  { name: 'full decision (approve)', iterations: 50, run: decided(honest), expected: 'approve' },
  {
    name: '200 KiB of noise',
    iterations: 500,
    run: decided(garbage(noise)),
    expected: 'deny',
  },
  {
    name: '200 KiB of noise in PEM',
    iterations: 500,
    run: decided(garbage(Buffer.from(armoured))),
    expected: 'deny',
  },
  {
    name: '64 KiB of noise in PEM (largest that is read)',
    iterations: 5,
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

for (let warmUp = 0; warmUp < 10; warmUp += 1) contenders.forEach(roundOf);

const measured = contenders.map(() => [] as number[]);
for (let round = 0; round < rounds; round += 1) {
  contenders.forEach((contender, index) => {
    measured[index]?.push(roundOf(contender));
  });
}

const bare = measured[0] ?? [];
const ratios = measured.map((times) =>
  median(times.map((time, round) => time / (bare[round] ?? Number.NaN))),
);

console.log(
  `Median of ${rounds} interleaved rounds, processor time, Node ${process.versions.node}\n`,
);
console.log(`${'what'.padEnd(48)}${'µs'.padStart(10)}${'verifications'.padStart(16)}`);
contenders.forEach(({ name }, index) => {
  const time = median(measured[index] ?? []).toFixed(1);
  const ratio = (ratios[index] ?? Number.NaN).toFixed(2);
  console.log(`${name.padEnd(48)}${time.padStart(10)}${ratio.padStart(16)}`);
});

const ratio = ratios[1] ?? Number.NaN;
const kept = ratio <= mostVerifications;
console.log(
  `\nA full decision costs ${ratio.toFixed(2)} bare verifications; at most ${mostVerifications} are expected: ${kept ? 'kept' : 'EXCEEDED'}.`,
);
process.exitCode = kept ? 0 : 1;
