import { commonName, type NameAttribute, organization, type Rdn } from '../distinguished-name.ts';
import { type CaseParts, withChanges } from '../request-case.ts';
import type { Fault } from './fault.ts';

const notExact = { kind: 'deny', reasons: ['SubjectNotExact'] } as const;

function subject(name: string, rdns: (o: Rdn, cn: Rdn, parts: CaseParts) => readonly Rdn[]): Fault {
  return {
    name,
    expect: notExact,
    spoil: (parts) => {
      const cn = commonName(`system:node:${parts.identity.nodeName}`);
      return withChanges(parts, { subject: rdns(organization('system:nodes'), cn, parts) });
    },
  };
}

const single = (rdn: Rdn): NameAttribute => rdn[0] as NameAttribute;

/** Faults of who asks, and of the subject that is asked for. */
export const faultsOfRequester: readonly Fault[] = [
  {
    name: 'a requester that is not the node',
    expect: { kind: 'deny', reasons: ['RequesterNotNode'] },
    spoil: (parts, draw) => {
      const own = `system:node:${parts.identity.nodeName}`;
      const username = draw.one([
        'joe',
        '',
        'system:node:',
        'system:node:guest-9',
        'system:serviceaccount:kube-system:default',
        `${own} `,
        `x${own}`,
        `${own}.`,
        own.replace('system:node:', 'System:node:'),
      ]);
      return withChanges(parts, { username });
    },
  },
  {
    name: 'a requester outside the group',
    expect: { kind: 'deny', reasons: ['RequesterGroupMissing'] },
    spoil: (parts, draw) =>
      withChanges(parts, {
        groups: draw.one([
          ['system:authenticated'],
          [],
          ['System:Nodes', 'system:authenticated'],
          ['system:nodes ', 'system:masters'],
        ]),
      }),
  },
  subject('another common name', (o) => [o, commonName('system:node:guest-9')]),
  subject('the common name of another machine', (o, _, { identity }) => [
    o,
    commonName(`system:node:${identity.others[0]?.machine ?? 'machine-0'}`),
  ]),
  subject('a common name in capitals', (o, _, { identity }) => [
    o,
    commonName(`system:node:${identity.nodeName}`.toUpperCase()),
  ]),
  subject('another organisation', (_, cn) => [organization('system:masters'), cn]),
  subject('an additional organisation', (o, cn) => [o, organization('system:masters'), cn]),
  subject('a second, foreign common name', (o, cn) => [o, cn, commonName('system:node:guest-9')]),
  subject('the common name twice', (o, cn) => [o, cn, cn]),
  subject('one RDN with both attributes', (o, cn) => [[single(o), single(cn)]]),
  subject('an empty RDN', (o, cn) => [o, [], cn]),
  subject('an additional unit', (o, cn) => [
    o,
    cn,
    [{ type: '2.5.4.11', value: 'unit', as: 'utf8' }],
  ]),
  subject('no organisation', (_, cn) => [cn]),
  subject('no common name', (o) => [o]),
  subject('an empty subject', () => []),
  subject('an organisation as IA5String', (_, cn) => [organization('system:nodes', 'ia5'), cn]),
  subject('a common name as TeletexString', (o, _, { identity }) => [
    o,
    commonName(`system:node:${identity.nodeName}`, 'teletex'),
  ]),
  subject('a common name as BMPString', (o, _, { identity }) => [
    o,
    commonName(`system:node:${identity.nodeName}`, 'bmp'),
  ]),
];
