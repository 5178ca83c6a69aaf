import fc from 'fast-check';
import type { NodeIdentity, OtherMachine, SourcedValue } from '../../identity/node-identity.ts';

const nameStyles = [
  (number: number) => `worker-${number}`,
  (number: number) => `n${number}`,
  (number: number) => `ip-10-5-${number >> 8}-${number & 255}.eu-1.internal`,
  (number: number) => `0-${number}-gpu`,
  (number: number) => `${'a'.repeat(50)}-${number}`,
] as const;

const domains = ['lab.example', 'a.very.deep.zone.example', 'internal'] as const;

/** Shape of a small cluster from which one machine and its neighbours are told. */
interface ClusterShape {
  readonly style: number;
  readonly domain: number;
  readonly first: number;
  readonly neighbours: number;
  readonly families: 'v4' | 'v6' | 'both';
  readonly addressesPerFamily: number;
  readonly external: readonly number[];
  readonly platformNames: number;
  readonly configured: number;
  readonly spelling: 'plain' | 'upper' | 'final dot' | 'long';
}

const hex = (value: number) => value.toString(16);
const v4 = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

function spelledName(name: string, spelling: ClusterShape['spelling']): string {
  if (spelling === 'upper') return name.toUpperCase();
  return spelling === 'final dot' ? `${name}.` : name;
}

function nodeAddress(machine: number, index: number, family: 'v4' | 'v6', long: boolean): string {
  if (family === 'v4') {
    const tail = `${machine >> 8}.${machine & 255}`;
    return index === 0 ? `10.5.${tail}` : `192.168.${(machine >> 8) + 16 * index}.${machine & 255}`;
  }
  const net = hex(5 + index);
  return long
    ? `FD00:000${net.toUpperCase()}:0:0:0:0:0:${hex(machine).toUpperCase()}`
    : `fd00:${net}::${hex(machine)}`;
}

function nodeAddresses(shape: ClusterShape, machine: number): SourcedValue[] {
  const families = shape.families === 'both' ? (['v4', 'v6'] as const) : [shape.families];
  const long = shape.spelling === 'long';
  return families.flatMap((family) =>
    Array.from({ length: shape.addressesPerFamily }, (_, index) => ({
      value: nodeAddress(machine, index, family, long),
      source: 'NodeIP' as const,
    })),
  );
}

function externalAddresses(shape: ClusterShape, machine: number): SourcedValue[] {
  // From 11.0.0.0 on, where nothing is reserved; neighbours are far enough from one another.
  return shape.external.map((value, index) => ({
    value:
      index % 2 === 0
        ? v4(0x0b00_0000 + (machine << 16) + value)
        : `2a01:${hex(machine)}::${hex(value)}`,
    source: 'ExternalAddress',
  }));
}

function machineNames(shape: ClusterShape, machine: number): SourcedValue[] {
  const name = (nameStyles[shape.style] ?? nameStyles[0])(machine);
  const domain = domains[shape.domain] ?? domains[0];
  const spelled = (value: string) => spelledName(value, shape.spelling);
  const platform = [`${name}.compute.cloud.example`, `ec2-${machine}.public.example`];
  return [
    { value: spelled(name), source: 'Nodename' },
    { value: spelled(name), source: 'HostnameStatus' },
    { value: spelled(`${name}.${domain}`), source: 'HostnameStatus' },
    ...platform
      .slice(0, shape.platformNames)
      .map((value) => ({ value: spelled(value), source: 'PlatformMetadata' as const })),
  ];
}

function configuredNames(shape: ClusterShape): SourcedValue[] {
  if (shape.configured === 0) return [];
  return [{ value: 'nodes.lab.example', source: 'Configured' }];
}

function neighbour(shape: ClusterShape, machine: number): OtherMachine {
  const names = machineNames(shape, machine);
  return {
    machine: `machine-${machine}`,
    dnsNames: [...names, ...configuredNames(shape)],
    ipAddresses: [...nodeAddresses(shape, machine), ...externalAddresses(shape, machine)],
  };
}

function identityOf(shape: ClusterShape): NodeIdentity {
  const { first } = shape;
  const subnets = ['172.20.0.0/24', '2001:db8:77::/64'].slice(0, shape.configured);
  return {
    nodeName: (nameStyles[shape.style] ?? nameStyles[0])(first),
    dnsNames: [...machineNames(shape, first), ...configuredNames(shape)],
    ipAddresses: [...nodeAddresses(shape, first), ...externalAddresses(shape, first)],
    subnets: subnets.map((value) => ({ value, source: 'Configured' as const })),
    reserved: {
      dnsNames: ['api.lab.example', 'VIP.Lab.Example.'],
      ipAddresses: ['10.5.255.100', 'fd00:5::ffff:100'],
      subnets: ['10.96.0.0/12', '10.244.0.0/16', 'fd00:10:96::/112'],
    },
    others: Array.from({ length: shape.neighbours }, (_, index) =>
      neighbour(shape, first + 1 + index),
    ),
  };
}

/** Names and addresses that no generated identity holds, reserves or knows of. */
export const strangers = {
  dnsNames: ['stranger.example', 'worker-0.evil.example', 'x'],
  ipAddresses: ['203.0.113.7', '2001:db8:dead::1', '172.20.1.1', '2001:db8:77:1::1'],
} as const;

/**
 * Identities of a machine that reports nothing wrong, in a cluster with up to four others:
 * IPv4, IPv6 or both, external addresses, platform names, configured names and subnets, and the
 * spellings that nodes use. No value is reserved or shared, but for configured names, which
 * every machine has.
 */
export function identities(): fc.Arbitrary<NodeIdentity> {
  return fc
    .record<ClusterShape>({
      style: fc.nat(nameStyles.length - 1),
      domain: fc.nat(domains.length - 1),
      first: fc.integer({ min: 1, max: 4000 }),
      neighbours: fc.nat(4),
      families: fc.constantFrom('v4', 'v6', 'both'),
      addressesPerFamily: fc.integer({ min: 1, max: 3 }),
      external: fc.array(fc.integer({ min: 1, max: 0xfffe }), { maxLength: 3 }),
      platformNames: fc.nat(2),
      configured: fc.nat(2),
      spelling: fc.constantFrom('plain', 'plain', 'upper', 'final dot', 'long'),
    })
    .map(identityOf);
}
