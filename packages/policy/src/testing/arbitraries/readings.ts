import fc from 'fast-check';
import type { NodeIdentity, NodeReading } from '../../identity/node-identity.ts';
import { identities } from './identities.ts';

/** Outcomes of asking that machine which say nothing of its names. */
export function readingsWithoutIdentity(nodeName: string): fc.Arbitrary<NodeReading> {
  return fc.constantFrom<NodeReading>(
    { kind: 'unreadable', nodeName, cause: 'connection refused' },
    { kind: 'notRead', nodeName },
    { kind: 'unmanaged' },
  );
}

/** Readings of all four kinds. */
export function readings(): fc.Arbitrary<NodeReading> {
  return fc.oneof(
    { weight: 3, arbitrary: identities().map((identity) => ({ kind: 'read', identity }) as const) },
    {
      weight: 1,
      arbitrary: identities().chain(({ nodeName }) => readingsWithoutIdentity(nodeName)),
    },
  );
}

const odd: readonly unknown[] = [
  undefined,
  null,
  0,
  '',
  'x',
  '999.1.1.1',
  '10.0.0.0/99',
  'fe80::1%eth0',
  ':::',
  '\0',
  'ſ.example',
  [],
  [null],
  {},
  { value: 5, source: 'NodeIP' },
  { value: '10.5.0.11', source: 'Rumour' },
];

const places: readonly (readonly (string | number)[])[] = [
  [],
  ['identity'],
  ...['nodeName', 'dnsNames', 'ipAddresses', 'subnets', 'reserved', 'others'].map((field) => [
    'identity',
    field,
  ]),
  ...['dnsNames', 'ipAddresses', 'subnets'].flatMap((field) => [
    ['identity', field, 0],
    ['identity', field, 0, 'value'],
    ['identity', field, 0, 'source'],
    ['identity', 'reserved', field],
    ['identity', 'reserved', field, 0],
  ]),
  ['identity', 'others', 0],
  ['identity', 'others', 0, 'machine'],
  ['identity', 'others', 0, 'dnsNames'],
  ['identity', 'others', 0, 'ipAddresses', 0, 'value'],
];

function withOddity(value: unknown, path: readonly (string | number)[], oddity: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return oddity;
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string | number, unknown> = Array.isArray(value)
    ? ([...value] as unknown as Record<number, unknown>)
    : { ...value };
  copy[step] = withOddity(copy[step], rest, oddity);
  return copy;
}

/** The reading of that identity with one to three places that hold what a broken reader puts there. */
export function hostileReadings(identity: NodeIdentity): fc.Arbitrary<NodeReading> {
  const change = fc.tuple(fc.constantFrom(...places), fc.constantFrom(...odd));
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) =>
      changes.reduce<unknown>((reading, [path, oddity]) => withOddity(reading, path, oddity), {
        kind: 'read',
        identity,
      }),
    )
    .map((reading) => reading as NodeReading);
}
