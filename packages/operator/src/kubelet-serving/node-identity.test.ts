import type { TalosCluster, TalosMachine } from '@ichor/k8s-adapter';
import { parseTalosCluster } from '@ichor/k8s-adapter';
import { describe, expect, it } from 'vitest';
import type { MachineFacts } from './machine-facts.ts';
import {
  endpointHost,
  identityOf,
  type KnownMachine,
  othersOf,
  reservedIn,
} from './node-identity.ts';

const machine = (
  name: string,
  address: string,
  machineType: 'controlplane' | 'worker' = 'worker',
  hostname: string | undefined = name,
): TalosMachine => ({
  name,
  namespace: 'ns',
  uid: `uid-${name}`,
  generation: 1,
  resourceVersion: '1',
  spec: { cluster: 'lab', machineType, address, hostname },
  status: { nodeName: undefined, identity: undefined, kubeletServingCertificate: undefined },
});
const facts = (
  nodeName: string,
  addresses: readonly string[],
  reserved?: readonly string[],
): MachineFacts => ({
  nodeName,
  dnsNames: [{ value: nodeName, source: 'Nodename' }],
  ipAddresses: addresses.map((value) => ({ value, source: 'NodeIP' })),
  reserved,
  observedAt: 0,
});
const cluster = (spec: Record<string, unknown> = {}): TalosCluster => {
  const parsed = parseTalosCluster({
    apiVersion: 'ichor.dev/v1alpha1',
    kind: 'TalosCluster',
    metadata: { name: 'lab', namespace: 'ns', uid: 'u', resourceVersion: '1', generation: 1 },
    spec: { security: {}, ...spec },
  });
  if (parsed.kind !== 'valid') throw new Error(parsed.value.problem);
  return parsed.value;
};
const server = 'https://[fd00::1]:6443';
const cp: KnownMachine = {
  machine: machine('cp-1', '10.5.0.2', 'controlplane'),
  facts: facts('cp-1', ['10.5.0.2'], ['10.96.0.0/12', '10.5.0.100']),
};
const worker: KnownMachine = {
  machine: machine('worker-1', '10.5.0.11'),
  facts: facts('worker-1', ['10.5.0.11']),
};

describe('reservedIn', () => {
  it('takes what the cluster states, the endpoint and what control planes exclude', () => {
    const stated = cluster({
      kubernetes: { endpoint: 'https://api.lab.example:6443' },
      reserved: {
        dnsNames: ['registry.lab.example'],
        ipAddresses: ['10.5.0.9'],
        subnets: ['192.0.2.0/24'],
      },
    });
    expect(reservedIn(stated, [cp, worker], server)).toEqual({
      kind: 'known',
      reserved: {
        dnsNames: ['registry.lab.example', 'api.lab.example'],
        ipAddresses: ['10.5.0.9', '10.5.0.100'],
        subnets: ['192.0.2.0/24', '10.96.0.0/12'],
      },
    });
  });

  it('never takes what a worker excludes', () => {
    const lying = { ...worker, facts: facts('worker-1', ['10.5.0.11'], ['10.5.0.12']) };
    const reading = reservedIn(cluster(), [cp, lying], server);
    expect(reading).toMatchObject({ kind: 'known' });
    expect(JSON.stringify(reading)).not.toContain('10.5.0.12');
  });

  it('leaves the endpoint to the control plane whose it is, by address or by host name', () => {
    for (const endpoint of ['https://10.5.0.2:6443', 'https://CP-1:6443']) {
      const reading = reservedIn(cluster({ kubernetes: { endpoint } }), [cp], server);
      expect(reading).toMatchObject({ reserved: { dnsNames: [], ipAddresses: ['10.5.0.100'] } });
    }
    const ofWorker = reservedIn(
      cluster({ kubernetes: { endpoint: 'https://10.5.0.11:6443' } }),
      [cp, worker],
      server,
    );
    expect(ofWorker).toMatchObject({ reserved: { ipAddresses: ['10.5.0.100', '10.5.0.11'] } });
  });

  it('is unknown while no control plane was read, and without any needs subnets', () => {
    const unread = { ...cp, facts: undefined };
    expect(reservedIn(cluster(), [unread, worker], server)).toMatchObject({
      kind: 'unknown',
      unreadControlPlanes: true,
    });
    expect(reservedIn(cluster(), [worker], server)).toMatchObject({
      kind: 'unknown',
      unreadControlPlanes: false,
    });
    const stated = cluster({ reserved: { subnets: ['10.96.0.0/12'] } });
    expect(reservedIn(stated, [worker], server)).toMatchObject({ kind: 'known' });
    expect(reservedIn(stated, [unread, worker], server)).toMatchObject({ kind: 'unknown' });
  });
});

describe('endpointHost', () => {
  it('is the stated endpoint, else the API server, without brackets', () => {
    expect(endpointHost(cluster(), server)).toBe('fd00::1');
    const stated = cluster({ kubernetes: { endpoint: 'https://api.lab.example' } });
    expect(endpointHost(stated, server)).toBe('api.lab.example');
  });
});

describe('othersOf', () => {
  const liar: KnownMachine = {
    machine: machine('liar', '10.5.0.13'),
    facts: facts('liar', ['10.5.0.13', '10.5.0.11', 'fd00::99']),
  };

  it('leaves out another machine’s report of what the inventory gives to the target alone', () => {
    const [others] = othersOf(worker.machine, [worker, liar]);
    expect(others?.ipAddresses.map(({ value }) => value)).toEqual([
      '10.5.0.13',
      'fd00::99',
      '10.5.0.13',
    ]);
  });

  it('leaves out what another machine’s domain makes of the target’s host name, and no more', () => {
    const said = (...names: string[]) => ({
      ...facts('worker-9', ['10.5.0.19']),
      dnsNames: [
        { value: 'worker-9', source: 'Nodename' as const },
        ...names.map((value) => ({ value, source: 'HostnameStatus' as const })),
      ],
    });
    const reportedBy = (...names: string[]) => {
      const other = { machine: machine('worker-9', '10.5.0.19'), facts: said(...names) };
      return othersOf(worker.machine, [worker, other])[0]?.dnsNames.map(({ value }) => value);
    };
    expect(reportedBy('worker-1', 'worker-1.lab.example')).toEqual(['worker-9', 'worker-9']);
    // Whoever has another host name has whatever else it says.
    expect(reportedBy('worker-9', 'worker-1.lab.example')).toContain('worker-1.lab.example');
    expect(reportedBy('worker-1', 'worker-10.lab.example')).toContain('worker-10.lab.example');
  });

  it('holds the same value against the machine that reports it', () => {
    const [others] = othersOf(liar.machine, [worker, liar]);
    expect(others?.ipAddresses).toContainEqual({ value: '10.5.0.11', source: 'NodeIP' });
  });

  it('keeps the report where the inventory gives the value to two machines', () => {
    const twin: KnownMachine = { machine: machine('twin', '10.5.0.11'), facts: undefined };
    const [, ofLiar] = othersOf(worker.machine, [worker, twin, liar]);
    expect(ofLiar?.ipAddresses).toContainEqual({ value: '10.5.0.11', source: 'NodeIP' });
  });

  it('knows a machine that was never read by its inventory', () => {
    const unread: KnownMachine = { machine: machine('unread', 'host.example'), facts: undefined };
    expect(othersOf(worker.machine, [worker, unread])).toEqual([
      {
        machine: 'unread',
        dnsNames: [
          { value: 'host.example', source: 'HostnameStatus' },
          { value: 'unread', source: 'HostnameStatus' },
        ],
        ipAddresses: [],
      },
    ]);
  });
});

describe('identityOf', () => {
  const withSubnets = cluster({
    security: {
      kubeletServingCertificates: {
        extraSubnets: ['198.51.100.0/24'],
        extraDNSNames: ['lb.example'],
      },
    },
  });
  const reserved = { dnsNames: [], ipAddresses: [], subnets: [] };

  it('gives additional names and subnets as configured, once every machine was read', () => {
    const all = [cp, worker];
    const { identity, options } = identityOf(
      worker.machine,
      worker.facts as MachineFacts,
      withSubnets,
      all,
      reserved,
    );
    expect(identity.subnets).toEqual([{ value: '198.51.100.0/24', source: 'Configured' }]);
    expect(identity.dnsNames).toContainEqual({ value: 'lb.example', source: 'Configured' });
    expect(options.unknownNames).toBe('deny');
  });

  it('withholds subnets while some machine was never read, and lets unknown names wait', () => {
    const some = [cp, worker, { machine: machine('new', '10.5.0.30'), facts: undefined }];
    const { identity, options } = identityOf(
      worker.machine,
      worker.facts as MachineFacts,
      withSubnets,
      some,
      reserved,
    );
    expect(identity.subnets).toEqual([]);
    expect(options.unknownNames).toBe('pending');
    const plain = identityOf(
      worker.machine,
      worker.facts as MachineFacts,
      cluster(),
      some,
      reserved,
    );
    expect(plain.options.unknownNames).toBe('deny');
  });
});
