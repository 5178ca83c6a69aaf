import fc from 'fast-check';
import type { Decision } from '../../decision.ts';
import type { NodeIdentity } from '../../identity/node-identity.ts';
import { honestCases } from '../arbitraries/honest-requests.ts';
import { strangers } from '../arbitraries/identities.ts';
import { faultyCases, nearMissCases, twoDenials } from '../arbitraries/near-misses.ts';
import { type Draw, drawFrom } from '../draw.ts';
import { neighboursName } from '../faults/names.ts';
import { dnsEntry, type GeneralName, ipEntry } from '../general-name.ts';
import { ipOctets } from '../ip-octets.ts';
import type { CaseParts } from '../request-case.ts';
import { withChanges, withIdentity, withSan } from '../request-case.ts';
import { broken, type DecisionLaw, type LawSubject, law, reasonsOf, shown } from './law.ts';
import { foldedName, isInSubnet } from './permission-oracle.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

function entryKey(entry: GeneralName): string {
  if (entry.kind === 'dns') return `dns ${foldedName(entry.text)}`;
  if (entry.kind !== 'ip') return entry.kind;
  const { address } = entry;
  return `ip ${hex(typeof address === 'string' ? ipOctets(address) : address)}`;
}

type Approval = Extract<Decision, { kind: 'approve' }>;

function evidenceKeys(decision: Approval): Set<string> {
  return new Set(
    decision.evidence.map(({ kind, name }) =>
      kind === 'dns' ? `dns ${foldedName(name)}` : `ip ${hex(ipOctets(name))}`,
    ),
  );
}

const sortedText = (keys: Iterable<string>) => [...new Set(keys)].sort().join(', ');

/** Complains unless the evidence covers the SAN exactly, each name from where it was read. */
function checkEvidence(decision: Approval, parts: CaseParts): void {
  const asked = sortedText(parts.san.map(entryKey));
  const proved = sortedText(evidenceKeys(decision));
  if (asked !== proved) broken(decision, `evidence for ${asked}, not for ${proved}`);
  const { identity } = parts;
  for (const { kind, name, source } of decision.evidence) {
    const listed =
      kind === 'dns'
        ? identity.dnsNames.some(
            (held) => held.source === source && foldedName(held.value) === foldedName(name),
          )
        : identity.ipAddresses.some(
            (held) => held.source === source && hex(ipOctets(held.value)) === hex(ipOctets(name)),
          );
    const inSubnet =
      kind === 'ip' &&
      identity.subnets.some(
        (subnet) => subnet.source === source && isInSubnet(hex(ipOctets(name)), subnet.value),
      );
    if (!listed && !inSubnet) broken(decision, `${name} to be known from ${source}`);
  }
}

/** Cases whose SAN is what `san` says, so that names can be added or moved. */
const hasPlainSan = ({ changes }: CaseParts) =>
  [changes.extensions, changes.attributes, changes.der, changes.pemText, changes.request].every(
    (part) => part === undefined,
  );

function anyCases({ faults }: LawSubject): fc.Arbitrary<CaseParts> {
  return fc.oneof(
    { weight: 5, arbitrary: honestCases() },
    { weight: 5, arbitrary: nearMissCases(faults) },
  );
}

function foreignName(identity: NodeIdentity, draw: Draw): GeneralName {
  const unknown = draw.one<GeneralName>([
    dnsEntry(draw.one(strangers.dnsNames)),
    ipEntry(draw.one(strangers.ipAddresses)),
    dnsEntry('*.example'),
    { kind: 'uri', text: 'https://example/' },
    ipEntry('127.0.0.1'),
    dnsEntry('kubernetes.default'),
    ipEntry('10.96.0.1'),
  ]);
  return draw.below(3) === 0 ? (neighboursName(identity, draw) ?? unknown) : unknown;
}

function fewer<T>(values: readonly T[], draw: Draw): readonly T[] {
  return values.filter(() => draw.below(3) > 0);
}

function lessIdentity(identity: NodeIdentity, draw: Draw): NodeIdentity {
  return {
    ...identity,
    dnsNames: fewer(identity.dnsNames, draw),
    ipAddresses: fewer(identity.ipAddresses, draw),
    subnets: fewer(identity.subnets, draw),
  };
}

function moreRefusals(parts: CaseParts, draw: Draw): NodeIdentity {
  const { identity } = parts;
  const dns = parts.san.flatMap((entry) => (entry.kind === 'dns' ? [entry.text] : []));
  const asked = dns.map((value) => ({ value, source: 'HostnameStatus' as const }));
  const { reserved } = identity;
  return {
    ...identity,
    reserved: { ...reserved, dnsNames: [...reserved.dnsNames, ...fewer(dns, draw)] },
    others: [
      ...identity.others,
      { machine: 'newcomer', dnsNames: fewer(asked, draw), ipAddresses: [] },
    ],
  };
}

function reordered(parts: CaseParts, draw: Draw): CaseParts {
  const mixed = <T>(values: readonly T[]) => draw.shuffled(values);
  const { identity, changes } = parts;
  const twisted: NodeIdentity = {
    ...identity,
    dnsNames: mixed(identity.dnsNames),
    ipAddresses: mixed(identity.ipAddresses),
    subnets: mixed(identity.subnets),
    reserved: {
      dnsNames: mixed(identity.reserved.dnsNames),
      ipAddresses: mixed(identity.reserved.ipAddresses),
      subnets: mixed(identity.reserved.subnets),
    },
    others: mixed(identity.others),
  };
  const moved = withSan(parts, mixed(parts.san));
  const usages = mixed([...(changes.usages ?? []), ...(changes.usages ?? []).slice(0, 1)]);
  const reading = parts.reading.kind === 'read' ? withIdentity(parts, twisted) : parts;
  return {
    ...withChanges(moved, { usages, groups: mixed(changes.groups ?? []) }),
    identity: reading.identity,
    reading: reading.reading,
  };
}

/** Everything that is compared when two decisions must be the same but for order. */
function essence(decision: Decision): string {
  const names = decision.kind === 'approve' ? sortedText(evidenceKeys(decision)) : '';
  return `${shown(decision)} ${names}`;
}

const needsIdentity = [
  'DnsNameNotOfNode',
  'IpAddressNotOfNode',
  'NameReserved',
  'NameOfAnotherMachine',
];

/**
 * The laws of a decision that can be checked on any decision function: what must be approved,
 * what must be refused and why, and what may never make a difference.
 */
export function decisionLaws(subject: LawSubject): readonly DecisionLaw[] {
  const decide = (parts: CaseParts) =>
    subject.decide(subject.build(parts).csr, parts.reading, parts.options);
  const seeded = <T>(arbitrary: fc.Arbitrary<T>) => fc.tuple(arbitrary, fc.nat());

  return [
    law(
      'an honest request is approved, with evidence for exactly its names',
      { weight: 25 },
      honestCases(),
      (parts) => {
        const decision = decide(parts);
        if (decision.kind !== 'approve') broken(decision, 'approve');
        if (decision.node !== parts.identity.nodeName) {
          broken(decision, `approval of ${parts.identity.nodeName}`);
        }
        checkEvidence(decision, parts);
      },
    ),
    law(
      'a request with one fault earns exactly the reasons of that fault',
      { weight: 40 },
      nearMissCases(subject.faults),
      (parts) => {
        const decision = decide(parts);
        const wanted = [parts.expect.kind, ...[...parts.expect.reasons].sort()].join(' ');
        if (shown(decision) !== wanted) broken(decision, `${wanted}, for ${parts.fault}`);
      },
    ),
    law('two denials are both said', { weight: 6 }, twoDenials(), (parts) => {
      const decision = decide(parts);
      const wanted = ['deny', ...new Set([...parts.expect.reasons].sort())].join(' ');
      if (shown(decision) !== wanted) broken(decision, `${wanted}, for ${parts.fault}`);
    }),
    law(
      'several faults do not heal one another',
      { weight: 6 },
      faultyCases(subject.faults),
      (parts) => {
        const decision = decide(parts);
        if (decision.kind === 'approve') broken(decision, 'no approval');
      },
    ),
    law(
      'nothing read, nothing approved, and nothing said of names',
      { weight: 8 },
      seeded(anyCases(subject)),
      ([parts, seed]) => {
        const { nodeName } = parts.identity;
        const reading = drawFrom(seed).one<CaseParts['reading']>([
          { kind: 'unreadable', nodeName, cause: 'refused' },
          { kind: 'notRead', nodeName },
          { kind: 'unmanaged' },
        ]);
        const decision = decide({ ...parts, reading });
        if (decision.kind === 'approve') broken(decision, 'no approval');
        if (reasonsOf(decision).some((reason) => needsIdentity.includes(reason))) {
          broken(decision, 'no reason that needs an identity');
        }
      },
    ),
    law(
      'a foreign name more never ends in an approval',
      { weight: 10, leastApplied: 0.5 },
      seeded(anyCases(subject)),
      ([parts, seed]) => {
        if (!hasPlainSan(parts)) return 'idle';
        const draw = drawFrom(seed);
        const name = foreignName(parts.identity, draw);
        const decision = decide(withSan(parts, draw.shuffled([...parts.san, name])));
        if (decision.kind === 'approve') broken(decision, 'no approval');
        return undefined;
      },
    ),
    law(
      'less evidence never turns a denial into an approval',
      { weight: 6, leastApplied: 0.4 },
      seeded(nearMissCases(subject.faults)),
      ([parts, seed]) => {
        if (parts.expect.kind !== 'deny' || parts.reading.kind !== 'read') return 'idle';
        const less = lessIdentity(parts.identity, drawFrom(seed));
        const decision = decide(withIdentity(parts, less));
        if (decision.kind === 'approve') broken(decision, 'no approval');
        return undefined;
      },
    ),
    law(
      'more that is reserved or held by others never turns a denial into an approval',
      { weight: 6, leastApplied: 0.4 },
      seeded(nearMissCases(subject.faults)),
      ([parts, seed]) => {
        if (parts.expect.kind !== 'deny' || parts.reading.kind !== 'read') return 'idle';
        const decision = decide(withIdentity(parts, moreRefusals(parts, drawFrom(seed))));
        if (decision.kind === 'approve') broken(decision, 'no approval');
        return undefined;
      },
    ),
    law(
      'what is reserved is denied even to the machine that holds it',
      { weight: 6 },
      seeded(honestCases()),
      ([parts, seed]) => {
        const [first, ...rest] = parts.san;
        if (first === undefined) return 'idle';
        const entry = drawFrom(seed).one([first, ...rest]);
        const { reserved } = parts.identity;
        const more =
          entry.kind === 'dns'
            ? { ...reserved, dnsNames: [...reserved.dnsNames, entry.text.toUpperCase()] }
            : entry.kind === 'ip' && typeof entry.address === 'string'
              ? { ...reserved, ipAddresses: [...reserved.ipAddresses, entry.address] }
              : reserved;
        const decision = decide(withIdentity(parts, { ...parts.identity, reserved: more }));
        if (shown(decision) !== 'deny NameReserved') broken(decision, 'deny NameReserved');
        return undefined;
      },
    ),
    law(
      'the order of names, usages, groups and reports makes no difference',
      { weight: 10, leastApplied: 0.5 },
      seeded(anyCases(subject)),
      ([parts, seed]) => {
        if (!hasPlainSan(parts)) return 'idle';
        const before = decide(parts);
        const after = decide(reordered(parts, drawFrom(seed)));
        if (essence(before) !== essence(after)) broken(after, essence(before));
        return undefined;
      },
    ),
  ];
}
