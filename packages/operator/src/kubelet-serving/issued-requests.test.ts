import {
  parseTalosCluster,
  type ReceivedRequest,
  type ServingCertificateRecord,
  type TalosMachine,
} from '@ichor/k8s-adapter';
import { buildRequest, dnsEntry, ipEntry, poolKey } from '@ichor/policy/testing';
import { describe, expect, it } from 'vitest';
import { issueServingCertificate } from '../demo/demo-signer.ts';
import { IssuedRequests, type IssuedSnapshot } from './issued-requests.ts';
import type { MachineFacts } from './machine-facts.ts';
import { indexMachines } from './machine-lookup.ts';
import type { ReadMachine } from './plan-decision.ts';

const now = Date.parse('2026-12-01T12:00:00Z');

describe('issued certificates', () => {
  it('are held against all machines once, and not again while nothing has changed', () => {
    const { observe, looksAtOthers, records } = setUp(['10.5.0.11']);
    observe('1');
    expect(records).toMatchObject([{ request: 'issued', ipAddresses: ['10.5.0.11'] }]);
    expect(looksAtOthers()).toBeGreaterThan(0);
    observe('1');
    expect(looksAtOthers()).toBe(0);
  });

  it('that name what is not the machine’s are held against them again after a change', () => {
    const { observe, looksAtOthers, records } = setUp(['10.5.0.11', '10.5.0.12']);
    const outside = observe('1').get('uid-worker-1')?.outside?.detail;
    expect(outside).toContain('NameOfAnotherMachine');
    expect(outside).toContain('10.5.0.12');
    expect(looksAtOthers()).toBeGreaterThan(0);
    expect(observe('1').get('uid-worker-1')?.outside?.detail).toBe(outside);
    expect(looksAtOthers()).toBe(0);
    observe('2');
    expect(looksAtOthers()).toBeGreaterThan(0);
    expect(records).toEqual([]);
  });

  it('for an address that the node and another machine both report are nobody’s', () => {
    const { observe, records } = setUp(['10.5.0.11', '10.5.0.12'], ['10.5.0.12']);
    expect(observe('1').get('uid-worker-1')?.outside?.detail).toBe(
      'NameOfAnotherMachine: 10.5.0.12 is also what worker-2 has.',
    );
    expect(records).toEqual([]);
  });

  it('for an address of no machine wait, where a subnet is left out until all are read', () => {
    const subnets = { extraSubnets: ['10.7.0.0/24'] };
    const unread = setUp(['10.5.0.11', '10.5.0.99'], [], { ...subnets, neverRead: true });
    unread.observe('1');
    expect(unread.unusable).toEqual([expect.stringContaining('once every machine')]);
    expect(unread.records).toEqual([]);
    const allRead = setUp(['10.5.0.11', '10.5.0.99'], [], subnets);
    expect(allRead.observe('1').get('uid-worker-1')?.outside?.detail).toContain(
      'IpAddressNotOfNode',
    );
    expect(allRead.records).toEqual([]);
  });

  it('of the newest request are recorded, also where an earlier one was signed later', () => {
    const { observe, records } = setUp(['10.5.0.11']);
    const earlier = { name: 'earlier', createdAt: now - 60_000, signedAt: now + 60_000 };
    observe('1', [issuedRequest(['10.5.0.11'], earlier)]);
    expect(records.map(({ request }) => request)).toEqual(['earlier']);
    const both = [issuedRequest(['10.5.0.11']), issuedRequest(['10.5.0.11'], earlier)];
    observe('1', both);
    observe('1', both);
    expect(records.map(({ request }) => request)).toEqual(['earlier', 'issued']);
    const later = { name: 'later', createdAt: now + 1_000, signedAt: now + 2_000 };
    observe('1', [issuedRequest(['10.5.0.11']), issuedRequest(['10.5.0.11'], later)]);
    expect(records.map(({ request }) => request)).toEqual(['earlier', 'issued', 'later']);
  });

  it('for an address that the node alone reports are its own', () => {
    const { observe, records } = setUp(['10.5.0.11', '10.5.0.13'], ['10.5.0.13']);
    expect(observe('1').get('uid-worker-1')?.outside).toBeUndefined();
    expect(records).toMatchObject([{ ipAddresses: ['10.5.0.11', '10.5.0.13'] }]);
  });
});

/** Machines worker-1, which holds a certificate for addresses, and worker-2; who looks at the latter is counted. */
function setUp(
  addresses: readonly string[],
  alsoReported: readonly string[] = [],
  {
    extraSubnets = [],
    neverRead = false,
  }: { readonly extraSubnets?: readonly string[]; readonly neverRead?: boolean } = {},
) {
  let looks = 0;
  const controlPlane = read(machine('cp-1', '10.5.0.2', 'controlplane'), ['10.96.0.0/12']);
  const holder = read(machine('worker-1', '10.5.0.11'), undefined, alsoReported);
  const other = read(machine('worker-2', '10.5.0.12'));
  const counted: ReadMachine = {
    machine: other.machine,
    state: other.state,
    get facts() {
      looks += 1;
      return neverRead ? undefined : other.facts;
    },
  };
  const machines = [controlPlane, holder, counted];
  const index = indexMachines(machines);
  const records: ServingCertificateRecord[] = [];
  const unusable: string[] = [];
  const issued = new IssuedRequests(
    { recordOf: () => records.at(-1), putRecord: (_machine, record) => records.push(record) },
    (_request, detail) => unusable.push(detail),
  );
  const snapshot: Omit<IssuedSnapshot, 'basis'> = {
    requests: [issuedRequest(addresses)],
    machines,
    index,
    cluster: labCluster(extraSubnets),
    server: 'https://10.5.0.2:6443',
  };
  looks = 0;
  return {
    records,
    unusable,
    observe: (basis: string, requests = snapshot.requests) =>
      issued.observe({ ...snapshot, requests, basis }),
    looksAtOthers: () => {
      const counted = looks;
      looks = 0;
      return counted;
    },
  };
}

function issuedRequest(
  addresses: readonly string[],
  { name = 'issued', createdAt = now, signedAt = now } = {},
): ReceivedRequest {
  const nodeName = 'worker-1';
  const san = [dnsEntry(nodeName), ...addresses.map(ipEntry)];
  const csr = buildRequest({ nodeName, san });
  const certificate = Buffer.from(
    issueServingCertificate({ nodeName, san, spki: poolKey('P-256').spki, now: signedAt }),
  ).toString('base64');
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '7',
    createdAt,
    csr: { ...csr, status: { certificate, conditions: [{ type: 'Approved' }] } },
    conditions: [],
    raw: undefined,
  };
}

function machine(
  name: string,
  address: string,
  machineType: 'controlplane' | 'worker' = 'worker',
): TalosMachine {
  return {
    name,
    namespace: 'ns',
    uid: `uid-${name}`,
    generation: 1,
    resourceVersion: '1',
    spec: { cluster: 'lab', machineType, address, hostname: name },
    status: { nodeName: undefined, identity: undefined, kubeletServingCertificate: undefined },
  };
}

function read(
  of: TalosMachine,
  reserved?: readonly string[],
  alsoReported: readonly string[] = [],
): ReadMachine {
  const facts: MachineFacts = {
    nodeName: of.name,
    dnsNames: [{ value: of.name, source: 'Nodename' }],
    ipAddresses: [of.spec.address, ...alsoReported].map((value) => ({ value, source: 'NodeIP' })),
    reserved,
    observedAt: now,
  };
  return {
    machine: of,
    facts,
    state: { facts, readAt: now, triedAt: now, failure: undefined },
  };
}

function labCluster(extraSubnets: readonly string[]) {
  const parsed = parseTalosCluster({
    apiVersion: 'ichor.dev/v1alpha1',
    kind: 'TalosCluster',
    metadata: { name: 'lab', namespace: 'ns', uid: 'u', resourceVersion: '1', generation: 1 },
    spec: {
      security: { kubeletServingCertificates: { enabled: true, extraSubnets } },
      kubernetes: { endpoint: 'https://api.lab.example:6443' },
    },
  });
  if (parsed.kind !== 'valid') throw new Error(parsed.value.problem);
  return parsed.value;
}
