import type { NodeIdentity, SourcedValue } from '../../identity/node-identity.ts';
import { strangers } from '../arbitraries/identities.ts';
import type { Draw } from '../draw.ts';
import { dnsEntry, type GeneralName, ipEntry } from '../general-name.ts';
import { ipv4Mapped } from '../ip-octets.ts';
import { type CaseParts, withIdentity, withSan } from '../request-case.ts';
import type { Fault } from './fault.ts';

function asking(parts: CaseParts, name: GeneralName, draw: Draw): CaseParts {
  return withSan(parts, draw.shuffled([...parts.san, name]));
}

function denying(parts: CaseParts): CaseParts {
  const { unknownNames: _, ...options } = parts.options;
  return { ...parts, options };
}

function leavingUnknown(parts: CaseParts): CaseParts {
  return { ...parts, options: { ...parts.options, unknownNames: 'pending' } };
}

const isIpv4 = (text: string) => !text.includes(':');

const held = (values: readonly SourcedValue[]) =>
  values.filter(({ source }) => source !== 'Configured').map(({ value }) => value);

/** A name or address that a neighbour holds, in one of the forms that must not help. */
export function neighboursName(identity: NodeIdentity, draw: Draw): GeneralName | null {
  const [first, ...rest] = identity.others;
  if (first === undefined) return null;
  const other = draw.one([first, ...rest]);
  const names = held(other.dnsNames).map((value) => dnsEntry(value));
  const addresses = held(other.ipAddresses).flatMap((value) =>
    isIpv4(value) ? [ipEntry(value), ipEntry(ipv4Mapped(value))] : [ipEntry(value)],
  );
  const [one, ...more] = [...names, ...addresses];
  return one === undefined ? null : draw.one([one, ...more]);
}

const reservedEverywhere: readonly [GeneralName, ...GeneralName[]] = [
  dnsEntry('localhost'),
  dnsEntry('LocalHost.'),
  dnsEntry('kubernetes'),
  dnsEntry('kubernetes.default.svc.cluster.local'),
  dnsEntry('KUBERNETES.default'),
  ipEntry('127.0.0.1'),
  ipEntry('::1'),
  ipEntry('0.0.0.0'),
  ipEntry('::'),
  ipEntry('169.254.169.254'),
  ipEntry('fe80::1'),
  ipEntry('224.0.0.1'),
  ipEntry('ff02::1'),
  ipEntry('::ffff:127.0.0.1'),
];

const reservedHere: readonly [GeneralName, ...GeneralName[]] = [
  dnsEntry('api.lab.example'),
  dnsEntry('vip.lab.example'),
  ipEntry('10.5.255.100'),
  ipEntry('::ffff:10.5.255.100'),
  ipEntry('fd00:5::ffff:100'),
  ipEntry('10.96.0.1'),
  ipEntry('10.111.255.255'),
  ipEntry('10.244.3.7'),
  ipEntry('fd00:10:96::1'),
];

const invalidNames: readonly [string, ...string[]] = [
  '*.lab.example',
  '',
  '.',
  'a..b',
  '-worker.example',
  'worker-.example',
  'wor_ker.example',
  'worker\0.example',
  'wörker.example',
  ' worker',
  `${'a'.repeat(64)}.example`,
  'a.'.repeat(128),
  'worker-1.example..',
  'https://worker',
];

/** Faults of the names that are asked for. */
export const faultsOfNames: readonly Fault[] = [
  {
    name: 'a DNS name that is none',
    expect: { kind: 'deny', reasons: ['DnsNameInvalid'] },
    spoil: (parts, draw) => asking(parts, dnsEntry(draw.one(invalidNames)), draw),
  },
  {
    name: "a DNS name that is nobody's",
    expect: { kind: 'deny', reasons: ['DnsNameNotOfNode'] },
    spoil: (parts, draw) => asking(denying(parts), dnsEntry(draw.one(strangers.dnsNames)), draw),
  },
  {
    name: "an address that is nobody's",
    expect: { kind: 'deny', reasons: ['IpAddressNotOfNode'] },
    spoil: (parts, draw) => asking(denying(parts), ipEntry(draw.one(strangers.ipAddresses)), draw),
  },
  {
    name: 'the own address in IPv4-mapped form',
    expect: { kind: 'deny', reasons: ['IpAddressNotOfNode'] },
    spoil: (parts, draw) => {
      const own = parts.identity.ipAddresses.find(({ value }) => isIpv4(value));
      if (own === undefined) return null;
      return asking(denying(parts), ipEntry(ipv4Mapped(own.value)), draw);
    },
  },
  {
    name: 'an external address that two machines list',
    expect: { kind: 'deny', reasons: ['IpAddressNotOfNode'] },
    spoil: (parts, draw) => {
      const { identity } = parts;
      const shared: SourcedValue = { value: '198.51.100.9', source: 'ExternalAddress' };
      return asking(
        denying(
          withIdentity(parts, {
            ...identity,
            ipAddresses: [...identity.ipAddresses, shared],
            others: [
              ...identity.others,
              { machine: 'behind-the-same-nat', dnsNames: [], ipAddresses: [shared] },
            ],
          }),
        ),
        ipEntry(shared.value),
        draw,
      );
    },
  },
  {
    name: 'a name that is reserved everywhere',
    expect: { kind: 'deny', reasons: ['NameReserved'] },
    spoil: (parts, draw) => asking(parts, draw.one(reservedEverywhere), draw),
  },
  {
    name: 'a name that this cluster reserves',
    expect: { kind: 'deny', reasons: ['NameReserved'] },
    spoil: (parts, draw) => asking(parts, draw.one(reservedHere), draw),
  },
  {
    name: 'a reserved address that the node reports as its own',
    expect: { kind: 'deny', reasons: ['NameReserved'] },
    spoil: (parts, draw) => {
      const own: SourcedValue = { value: '10.96.0.1', source: 'NodeIP' };
      const ipAddresses = [...parts.identity.ipAddresses, own];
      const lying = withIdentity(parts, { ...parts.identity, ipAddresses });
      return asking(lying, ipEntry(own.value), draw);
    },
  },
  {
    name: 'what another machine holds',
    expect: { kind: 'deny', reasons: ['NameOfAnotherMachine'] },
    spoil: (parts, draw) => {
      const name = neighboursName(parts.identity, draw);
      return name === null ? null : asking(parts, name, draw);
    },
  },
  {
    name: 'what another machine holds and a configured subnet covers',
    expect: { kind: 'deny', reasons: ['NameOfAnotherMachine'] },
    spoil: (parts, draw) => {
      const { identity } = parts;
      const value = '172.21.0.9';
      const source = draw.one(['NodeIP', 'ExternalAddress'] as const);
      const other = { machine: 'inside', dnsNames: [], ipAddresses: [{ value, source }] };
      const subnet = { value: '172.21.0.0/24', source: 'Configured' } as const;
      return asking(
        withIdentity(parts, {
          ...identity,
          subnets: [...identity.subnets, subnet],
          others: [...identity.others, other],
        }),
        ipEntry(value),
        draw,
      );
    },
  },
  {
    name: "a DNS name that is nobody's, where such are left to a person",
    expect: { kind: 'pending', reasons: ['NameUnverified'] },
    spoil: (parts, draw) =>
      asking(leavingUnknown(parts), dnsEntry(draw.one(strangers.dnsNames)), draw),
  },
  {
    name: "an address that is nobody's, where such are left to a person",
    expect: { kind: 'pending', reasons: ['NameUnverified'] },
    spoil: (parts, draw) =>
      asking(leavingUnknown(parts), ipEntry(draw.one(strangers.ipAddresses)), draw),
  },
];
