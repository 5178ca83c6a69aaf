import { describe, expect, test } from 'vitest';
import { classifyNames } from './classify-names.ts';
import { conflictsOf } from './identity-conflict.ts';
import { parseIpAddress } from './ip-address.ts';
import type { NodeIdentity, Source, SourcedValue } from './node-identity.ts';
import { type PreparedIdentity, prepareIdentity } from './prepare-identity.ts';

type Held = Readonly<Record<string, Source | readonly Source[]>>;

const listed = (held: Held): SourcedValue[] =>
  Object.entries(held).flatMap(([value, sources]) =>
    [sources].flat().map((source) => ({ value, source })),
  );

interface Facts {
  readonly dns?: Held;
  readonly ip?: Held;
  readonly subnets?: readonly string[];
  readonly others?: Readonly<Record<string, { readonly dns?: Held; readonly ip?: Held }>>;
  readonly reserved?: Partial<NodeIdentity['reserved']>;
}

function prepare({
  dns = {},
  ip = {},
  subnets = [],
  others = {},
  reserved,
}: Facts): PreparedIdentity {
  const preparation = prepareIdentity({
    nodeName: 'own',
    dnsNames: listed({ own: 'Nodename', ...dns }),
    ipAddresses: listed({ '10.0.0.1': 'NodeIP', ...ip }),
    subnets: subnets.map((value) => ({ value, source: 'Configured' })),
    reserved: { dnsNames: [], ipAddresses: [], subnets: [], ...reserved },
    others: Object.entries(others).map(([machine, held]) => ({
      machine,
      dnsNames: listed(held.dns ?? {}),
      ipAddresses: listed(held.ip ?? {}),
    })),
  });
  if (preparation.kind === 'unusable') throw new Error(preparation.cause);
  return preparation.identity;
}

/** What `name` is to the machine: `own by <source>`, `reserved`, `of <machines>` or `unknown`. */
function standing(name: string, facts: Facts): string {
  const address = parseIpAddress(name);
  const entry =
    address === undefined
      ? ({ kind: 'dns', name } as const)
      : ({ kind: 'ip', octets: Array.from(address, (octet) => octet.charCodeAt(0)) } as const);
  const [classified] = classifyNames(prepare(facts), [entry]);
  switch (classified?.standing.kind) {
    case 'own':
      return `own by ${classified.standing.source}`;
    case 'others':
      return `of ${classified.standing.machines.join(' and ')}`;
    default:
      return classified?.standing.kind ?? 'none';
  }
}

const nodeSources = ['NodeIP', 'Nodename', 'HostnameStatus'] as const;
const platformSources = ['ExternalAddress', 'PlatformMetadata'] as const;

// v: a name and an address that are put in the same places.
describe.for(['v.example', '192.0.2.7'])('%s', (v) => {
  const holding = (sources: Source | readonly Source[]): { dns?: Held; ip?: Held } =>
    parseIpAddress(v) === undefined ? { dns: { [v]: sources } } : { ip: { [v]: sources } };
  const own = (sources: Source | readonly Source[]): Facts => holding(sources);
  const others = (...sources: readonly Source[]): Facts => ({
    others: Object.fromEntries(
      sources.map((source, index) => [`m${index + 1}`, holding(source)] as const),
    ),
  });

  test('is unknown where nobody has it', () => {
    expect(standing(v, {})).toBe('unknown');
  });

  test.for(nodeSources)('is own by %s, whoever else has it from the platform', (source) => {
    expect(standing(v, own(source))).toBe(`own by ${source}`);
    for (const platform of platformSources) {
      expect(standing(v, { ...own(source), ...others(platform) })).toBe(`own by ${source}`);
    }
  });

  test.for(platformSources)('is own by %s only if no other machine has it', (source) => {
    expect(standing(v, own(source))).toBe(`own by ${source}`);
    expect(standing(v, { ...own(source), ...others('Configured') })).toBe(`own by ${source}`);
    expect(standing(v, { ...own(source), ...others('ExternalAddress') })).toBe('unknown');
    expect(standing(v, { ...own(source), ...others('PlatformMetadata') })).toBe('unknown');
    expect(standing(v, { ...own(source), ...others('NodeIP') })).toBe('of m1');
  });

  test('is own by Configured unless it is another machine’s own', () => {
    expect(standing(v, own('Configured'))).toBe('own by Configured');
    expect(standing(v, { ...own('Configured'), ...others('Configured') })).toBe(
      'own by Configured',
    );
    expect(standing(v, { ...own('Configured'), ...others('ExternalAddress') })).toBe(
      'own by Configured',
    );
    expect(standing(v, { ...own('Configured'), ...others('HostnameStatus') })).toBe('of m1');
  });

  test('is own by the strongest of several sources', () => {
    expect(standing(v, own(['Configured', 'PlatformMetadata', 'Nodename']))).toBe(
      'own by Nodename',
    );
    expect(
      standing(v, { ...own(['Configured', 'PlatformMetadata']), ...others('PlatformMetadata') }),
    ).toBe('own by Configured');
  });

  test('is another machine’s by its own word, or if it alone has it from the platform', () => {
    for (const source of [...nodeSources, ...platformSources]) {
      expect(standing(v, others(source))).toBe('of m1');
    }
    expect(standing(v, others('Configured'))).toBe('unknown');
    expect(standing(v, others('ExternalAddress', 'ExternalAddress'))).toBe('unknown');
    expect(standing(v, others('ExternalAddress', 'Configured'))).toBe('of m1');
    expect(standing(v, others('ExternalAddress', 'Nodename'))).toBe('of m2');
    expect(standing(v, others('Nodename', 'Nodename'))).toBe('of m1 and m2');
  });

  test('is nobody’s once it is reserved', () => {
    const reserved = { dnsNames: ['V.example.'], ipAddresses: ['192.0.2.7'] };
    for (const facts of [own('Nodename'), others('Nodename'), own('Configured'), {}]) {
      expect(standing(v, { ...facts, reserved })).toBe('reserved');
    }
  });

  test('is evidence from no source that is unknown, and then refused to others', () => {
    const odd = 'Gossip' as Source;
    expect(standing(v, own(odd))).toBe('unknown');
    expect(standing(v, others(odd))).toBe('of m1');
  });
});

describe('addresses', () => {
  const mapped = '::ffff:192.0.2.7';

  test('are never unmapped for permission', () => {
    expect(standing(mapped, { ip: { '192.0.2.7': 'NodeIP' } })).toBe('unknown');
    expect(standing('192.0.2.7', { ip: { [mapped]: 'NodeIP' } })).toBe('unknown');
    expect(standing(mapped, { ip: { [mapped]: 'NodeIP' } })).toBe('own by NodeIP');
    expect(standing(mapped, { subnets: ['192.0.2.0/24'] })).toBe('unknown');
  });

  test('are unmapped for refusal', () => {
    expect(standing(mapped, { others: { m1: { ip: { '192.0.2.7': 'NodeIP' } } } })).toBe('of m1');
    expect(standing('192.0.2.7', { others: { m1: { ip: { [mapped]: 'NodeIP' } } } })).toBe('of m1');
    expect(standing(mapped, { reserved: { subnets: ['192.0.2.0/24'] } })).toBe('reserved');
    expect(standing(mapped, { reserved: { subnets: ['::ffff:0:0/96'] } })).toBe('reserved');
    expect(standing('192.0.2.7', { reserved: { subnets: ['::ffff:192.0.2.0/120'] } })).toBe(
      'reserved',
    );
    expect(standing('::ffff:127.0.0.1', {})).toBe('reserved');
  });

  test('are own by a subnet if nobody else holds them', () => {
    const subnets = ['192.0.2.0/24'];
    expect(standing('192.0.2.7', { subnets })).toBe('own by Configured');
    expect(standing('192.0.3.7', { subnets })).toBe('unknown');
    for (const source of [...nodeSources, ...platformSources]) {
      const others = { m1: { ip: { '192.0.2.7': source } } };
      expect(standing('192.0.2.7', { subnets, others })).toBe('of m1');
    }
  });

  test.for([
    ['127.255.255.255', '128.0.0.0'],
    ['169.254.169.254', '169.253.255.255'],
    ['224.0.0.1', '223.255.255.255'],
    ['239.255.255.255', '240.0.0.0'],
    ['0.0.0.0', '0.0.0.1'],
    ['::1', '::2'],
    ['::', '::3'],
    ['febf::1', 'fec0::1'],
    ['ff02::1', 'feff::1'],
  ])('%s is reserved everywhere, %s is not', ([reserved, free]) => {
    expect(standing(reserved ?? '', {})).toBe('reserved');
    expect(standing(free ?? '', {})).toBe('unknown');
  });
});

test.for([
  ['kubernetes', 'kubernetes-1'],
  ['KUBERNETES.default.svc.', 'kubernetes-dashboard'],
  ['localhost', 'localhost.example'],
  ['Localhost.', 'mylocalhost'],
])('%s is reserved everywhere, %s is not', ([reserved, free]) => {
  expect(standing(reserved ?? '', {})).toBe('reserved');
  expect(standing(free ?? '', {})).toBe('unknown');
});

describe('a conflict', () => {
  const values = (facts: Facts) =>
    conflictsOf(prepare(facts)).map(({ value, machines }) => `${value} with ${machines.join()}`);

  test('is a value that two machines report as their own', () => {
    expect(values({ others: { m1: { dns: { 'OWN.': 'HostnameStatus' } } } })).toEqual([
      'own with m1',
    ]);
    expect(values({ others: { m1: { ip: { '::ffff:10.0.0.1': 'NodeIP' } } } })).toEqual([
      '10.0.0.1 with m1',
    ]);
  });

  test('is none if either has it from elsewhere', () => {
    for (const source of [...platformSources, 'Configured'] as const) {
      expect(values({ others: { m1: { dns: { own: source } } } })).toEqual([]);
      const facts = { dns: { v: source }, others: { m1: { dns: { v: 'Nodename' } } } } as const;
      expect(values(facts)).toEqual([]);
    }
  });

  test('is none over what is reserved', () => {
    const others = { m1: { ip: { '10.0.0.1': 'NodeIP' } } } as const;
    expect(values({ others })).toHaveLength(1);
    expect(values({ others, reserved: { subnets: ['10.0.0.0/8'] } })).toEqual([]);
  });
});

describe('an identity is unusable', () => {
  const good = {
    nodeName: 'own',
    dnsNames: [{ value: 'own', source: 'Nodename' }],
    ipAddresses: [{ value: '10.0.0.1', source: 'NodeIP' }],
    subnets: [],
    reserved: { dnsNames: [], ipAddresses: [], subnets: [] },
    others: [],
  };
  const cause = (identity: unknown): string => {
    const preparation = prepareIdentity(identity);
    return preparation.kind === 'unusable' ? preparation.cause : 'usable';
  };

  test.for([
    ['without a name', { dnsNames: [] }, 'it has no DNS name'],
    ['with an empty name only', { dnsNames: [{ value: '.', source: 'Nodename' }] }, 'no DNS name'],
    ['without an address', { ipAddresses: [] }, 'it has no address'],
    [
      'with an address only that is none',
      { ipAddresses: [{ value: '10.0.0.1/24', source: 'NodeIP' }] },
      'it has no address',
    ],
    ['without a list of others', { others: null }, 'other machines'],
    ['with another machine that is none', { others: [null] }, 'other machines'],
    ['without reserved names', { reserved: undefined }, 'reserved names are missing'],
  ] as const)('%s', ([, change, expected]) => {
    expect(cause(good)).toBe('usable');
    expect(cause({ ...good, ...change })).toContain(expected);
  });

  test.for([
    ['dnsNames', 'https://api.lab.example:6443', 'api.lab.example'],
    ['dnsNames', '*.lab.example', 'api_server.lab.example'],
    ['dnsNames', '', 'fd00::1'],
    ['ipAddresses', '10.0.0.300', '10.0.0.30'],
    ['ipAddresses', 'vip', '10.0.0.0/8'],
    ['subnets', '10.0.0.0/33', '10.0.0.0/32'],
  ] as const)('with %s reserving %j, but not %j', ([list, wrong, right]) => {
    const reserving = (entry: string) => ({
      ...good,
      reserved: { ...good.reserved, [list]: [entry] },
    });
    expect(cause(reserving(wrong))).toContain('is no name, address or CIDR');
    expect(cause(reserving(right))).toBe('usable');
  });

  test('but not by an odd value of another machine, which must not stop this one', () => {
    const held = [{ value: '300.1.1.1', source: 'NodeIP' }, { value: 5, source: 'NodeIP' }, null];
    const others = [{ machine: 'm1', dnsNames: held, ipAddresses: held }];
    expect(cause({ ...good, others })).toBe('usable');
  });
});

test('an address among reserved names is reserved as an address', () => {
  expect(standing('fd00::1', { reserved: { dnsNames: ['fd00::1'] } })).toBe('reserved');
  expect(standing('10.9.9.9', { reserved: { dnsNames: ['10.9.9.9'] } })).toBe('reserved');
  expect(standing('10.9.9.9', {})).toBe('unknown');
});
