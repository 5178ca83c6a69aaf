import type { NodeIdentity, Source } from '../../identity/node-identity.ts';
import { type CaseParts, withChanges, withIdentity } from '../request-case.ts';
import type { Fault } from './fault.ts';

const pending = <R extends 'NotKubeletServing' | 'AlreadyDecided' | 'NodeNotManaged'>(reason: R) =>
  ({ kind: 'pending', reasons: [reason] }) as const;
const unreadable = { kind: 'pending', reasons: ['NodeUnreadable'] } as const;
const conflict = { kind: 'pending', reasons: ['IdentityConflict'] } as const;

const mayConflict: readonly Source[] = ['NodeIP', 'Nodename', 'HostnameStatus'];

function alsoHeldElsewhere(
  parts: CaseParts,
  field: 'dnsNames' | 'ipAddresses',
  respell: (value: string) => string,
): CaseParts | null {
  const { identity } = parts;
  const own = identity[field].find(({ source }) => mayConflict.includes(source));
  if (own === undefined) return null;
  const twin = { machine: 'twin', dnsNames: [], ipAddresses: [] };
  const claim = { value: respell(own.value), source: own.source };
  return withIdentity(parts, {
    ...identity,
    others: [...identity.others, { ...twin, [field]: [claim] }],
  });
}

function reportingOnly(parts: CaseParts, without: Partial<NodeIdentity>): CaseParts {
  return withIdentity(parts, { ...parts.identity, ...without });
}

/** Faults of the object's state, of the reading and of the machine's report. */
export const faultsOfState: readonly Fault[] = [
  {
    name: 'another signer',
    expect: pending('NotKubeletServing'),
    spoil: (parts, draw) =>
      withChanges(parts, {
        spec: {
          signerName: draw.one<unknown>([
            'kubernetes.io/kube-apiserver-client-kubelet',
            'kubernetes.io/kube-apiserver-client',
            'kubernetes.io/legacy-unknown',
            'kubernetes.io/Kubelet-Serving',
            'example.com/kubelet-serving',
            '',
            undefined,
          ]),
        },
      }),
  },
  {
    name: 'a request that is decided',
    expect: pending('AlreadyDecided'),
    spoil: (parts, draw) =>
      withChanges(parts, { conditions: [draw.one(['Approved', 'Denied', 'Failed'])] }),
  },
  {
    name: 'a request with a certificate',
    expect: pending('AlreadyDecided'),
    spoil: (parts) => withChanges(parts, { certificate: 'LS0tLS1CRUdJTg==' }),
  },
  {
    name: 'a request that is being deleted',
    expect: pending('AlreadyDecided'),
    spoil: (parts, draw) => {
      const at = '2026-11-30T12:00:01Z';
      return withChanges(parts, { deletionTimestamp: draw.one<string | Date>([at, new Date(at)]) });
    },
  },
  {
    name: 'a node that is not managed',
    expect: pending('NodeNotManaged'),
    spoil: (parts) => ({ ...parts, reading: { kind: 'unmanaged' } }),
  },
  {
    name: 'a node that does not answer',
    expect: unreadable,
    spoil: (parts) => {
      const { nodeName } = parts.identity;
      return { ...parts, reading: { kind: 'unreadable', nodeName, cause: 'deadline exceeded' } };
    },
  },
  {
    name: 'a node that was not asked',
    expect: unreadable,
    spoil: (parts) => {
      const { nodeName } = parts.identity;
      return { ...parts, reading: { kind: 'notRead', nodeName } };
    },
  },
  {
    name: 'a report without DNS names',
    expect: unreadable,
    spoil: (parts) => reportingOnly(parts, { dnsNames: [] }),
  },
  {
    name: 'a report without addresses',
    expect: unreadable,
    spoil: (parts) => reportingOnly(parts, { ipAddresses: [] }),
  },
  {
    name: "a report of another machine's node name",
    expect: unreadable,
    spoil: (parts, draw) => {
      const { nodeName } = parts.identity;
      const other = draw.one(['guest-9', nodeName.toUpperCase(), `${nodeName}0`]);
      return reportingOnly(parts, { nodeName: other });
    },
  },
  {
    name: 'an address that two machines report',
    expect: conflict,
    spoil: (parts) => alsoHeldElsewhere(parts, 'ipAddresses', (value) => value.toUpperCase()),
  },
  {
    name: 'a host name that two machines report',
    expect: conflict,
    spoil: (parts, draw) =>
      alsoHeldElsewhere(parts, 'dnsNames', (value) =>
        draw.one([value, value.toUpperCase(), value.endsWith('.') ? value : `${value}.`]),
      ),
  },
];
