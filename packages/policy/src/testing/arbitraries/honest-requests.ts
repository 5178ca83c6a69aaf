import fc from 'fast-check';
import type { PolicyOptions } from '../../decision.ts';
import type { NodeIdentity } from '../../identity/node-identity.ts';
import { commonName, organization, type Rdn } from '../distinguished-name.ts';
import { type Draw, drawFrom } from '../draw.ts';
import { dnsEntry, type GeneralName, ipEntry } from '../general-name.ts';
import type { KeyName } from '../key-pool.ts';
import type { PemForm } from '../pem-writer.ts';
import { buildCase, type CaseParts, type RequestCase } from '../request-case.ts';
import type { RequestChanges } from '../signing-request.ts';
import { identities } from './identities.ts';

// P-256 is what kubelets use, and twenty times as fast to sign with as the others.
const keys: readonly [KeyName, ...KeyName[]] = [
  ...(Array.from({ length: 30 }, () => 'P-256') as [KeyName, ...KeyName[]]),
  'P-384',
  'P-521',
  'RSA-2048',
  'Ed25519',
  'Ed25519',
];

const pemForms: readonly [PemForm, ...PemForm[]] = [
  {},
  {},
  { eol: '\r\n' },
  { lineLength: 76 },
  { lineLength: 100_000 },
  { before: '\n \t', after: '\n\n\v\f' },
];

const usageSets: readonly [readonly string[], ...(readonly string[])[]] = [
  ['digital signature', 'server auth'],
  ['server auth', 'digital signature'],
  ['digital signature', 'key encipherment', 'server auth'],
  ['server auth', 'digital signature', 'server auth', 'key encipherment'],
];

const groupSets: readonly [readonly string[], ...(readonly string[])[]] = [
  ['system:nodes', 'system:authenticated'],
  ['system:authenticated', 'system:nodes'],
  ['system:nodes'],
  ['admins', 'system:nodes', 'system:authenticated'],
];

function respelled(name: string, draw: Draw): string {
  const plain = name.endsWith('.') ? name.slice(0, -1) : name;
  return draw.one([plain, plain, plain.toLowerCase(), plain.toUpperCase(), `${plain}.`]);
}

function insideSubnet(cidr: string, draw: Draw): string {
  const [base = ''] = cidr.split('/');
  const host = 1 + draw.below(253);
  return base.includes(':') ? `${base}${host.toString(16)}` : base.replace(/0$/, String(host));
}

function honestSan(identity: NodeIdentity, draw: Draw): readonly GeneralName[] {
  const own = [
    ...identity.dnsNames.map(({ value }) => dnsEntry(respelled(value, draw))),
    ...identity.ipAddresses.map(({ value }) => ipEntry(value)),
    ...identity.subnets.map(({ value }) => ipEntry(insideSubnet(value, draw))),
  ];
  const order = draw.shuffled(own);
  const chosen = order.slice(0, 1 + draw.below(order.length));
  const repeated = draw.below(8) === 0 ? chosen.slice(0, 1) : [];
  return [...chosen, ...repeated];
}

function honestSubject(nodeName: string, draw: Draw): readonly Rdn[] {
  const types = ['printable', 'printable', 'utf8'] as const;
  const rdns = [
    organization('system:nodes', draw.one(types)),
    commonName(`system:node:${nodeName}`, draw.one(types)),
  ];
  return draw.below(4) === 0 ? rdns.reverse() : rdns;
}

function honestOptions(draw: Draw): PolicyOptions {
  return draw.one<PolicyOptions>([
    {},
    {},
    { unknownNames: 'pending' },
    { maxExpirationSeconds: 86_400 },
    { unknownNames: 'deny', maxExpirationSeconds: 31_536_000 },
  ]);
}

function honestChanges(
  identity: NodeIdentity,
  san: readonly GeneralName[],
  options: PolicyOptions,
  draw: Draw,
): RequestChanges {
  const longest = options.maxExpirationSeconds ?? 2 ** 31 - 1;
  const lifetime = draw.one([undefined, undefined, 600, longest]);
  return {
    nodeName: identity.nodeName,
    subject: honestSubject(identity.nodeName, draw),
    san,
    sanCritical: draw.below(4) === 0,
    key: draw.one(keys),
    pem: draw.one(pemForms),
    usages: draw.one(usageSets),
    groups: draw.one(groupSets),
    ...(lifetime === undefined ? {} : { expirationSeconds: lifetime }),
    ...(draw.below(10) === 0 ? { conditions: ['example.com/Seen'] } : {}),
  };
}

/** Parts of an honest request, which follow from the identity and one number. */
export function honestParts(identity: NodeIdentity, seed: number): CaseParts {
  const draw = drawFrom(seed);
  const options = honestOptions(draw);
  const san = honestSan(identity, draw);
  return {
    changes: honestChanges(identity, san, options, draw),
    san,
    identity,
    reading: { kind: 'read', identity },
    options,
  };
}

/** Honest requests before they are built and signed; for tests that change them further. */
export function honestCases(): fc.Arbitrary<CaseParts> {
  return fc.tuple(identities(), fc.nat()).map(([identity, seed]) => honestParts(identity, seed));
}

/**
 * Requests that must be approved: any part of what the machine holds, in any order and spelling,
 * with every kind of key, usages and PEM that is permitted.
 */
export function honestRequests(): fc.Arbitrary<RequestCase> {
  return honestCases().map(buildCase);
}
