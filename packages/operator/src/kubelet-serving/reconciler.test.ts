import { KubeError } from '@ichor/k8s-adapter';
import { dnsEntry, ipEntry } from '@ichor/policy/testing';
import { describe, expect, it } from 'vitest';
import { OperatorWorld, usualMachines } from '../testing/operator-world.ts';

async function started(world: OperatorWorld): Promise<OperatorWorld> {
  world.start();
  await world.run(1_000);
  return world;
}

describe('a request of a managed node', () => {
  it('is approved with what each name rests on, after that was stored, and is recorded', async () => {
    const order: string[] = [];
    const world = await started(
      new OperatorWorld({
        intercept: ({ operation, name }) => {
          order.push(`${operation} ${name}`);
        },
      }),
    );
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(1_000);

    expect(world.conditions('csr-1')).toMatchObject([
      {
        type: 'Approved',
        reason: 'IchorKubeletServing',
        message: 'Node worker-1 has these names: DNS worker-1 (Nodename), IP 10.5.0.11 (NodeIP)',
      },
    ]);
    expect(order.indexOf('applyMachineStatus worker-1')).toBeGreaterThanOrEqual(0);
    expect(order.indexOf('applyMachineStatus worker-1')).toBeLessThan(
      order.indexOf('writeDecision csr-1'),
    );
    expect(world.machineStatus('worker-1')).toMatchObject({
      nodeName: 'worker-1',
      identity: { ipAddresses: [{ value: '10.5.0.11', source: 'NodeIP' }] },
      kubeletServingCertificate: {
        request: 'csr-1',
        dnsNames: ['worker-1'],
        ipAddresses: ['10.5.0.11'],
        adopted: false,
      },
    });
    expect(world.clusterCondition('KubeletServingCertificates')).toMatchObject({
      status: 'False',
      reason: 'MachinesWaiting',
    });
  });

  it('makes the condition true once every machine has its certificate', async () => {
    const world = await started(new OperatorWorld());
    for (const { name, address } of usualMachines) world.request(`csr-${name}`, name, [address]);
    await world.run(2_000);
    expect(world.clusterCondition('KubeletServingCertificates')).toMatchObject({
      status: 'True',
      reason: 'AllMachinesCertified',
    });
    expect(world.kubernetes.cluster('lab')['status']).toMatchObject({
      observedGeneration: 1,
      machines: { total: 3, certified: 3 },
    });
  });

  it('is denied for a foreign address, with one Event however often it comes', async () => {
    const world = await started(new OperatorWorld());
    for (const number of [1, 2, 3]) {
      world.request(`csr-${number}`, 'worker-1', ['10.5.0.11', '192.0.2.7']);
      await world.run(2_000);
      expect(world.outcome(`csr-${number}`)).toBe('Denied IpAddressNotOfNode');
    }
    expect(
      world.kubernetes.events().filter(({ reason }) => reason === 'IpAddressNotOfNode'),
    ).toMatchObject([
      { machine: 'worker-1', type: 'Warning', count: 3, related: { name: 'csr-1' } },
    ]);
  });

  it('is denied without any call to the node where the request itself is wrong', async () => {
    const world = await started(new OperatorWorld());
    const before = world.talos.readCount();
    world.request('csr-1', 'worker-1', [], {
      san: [dnsEntry('worker-1'), { kind: 'email', text: 'a@b.example' }],
    });
    await world.run(500);
    expect(world.outcome('csr-1')).toBe('Denied SanTypeNotPermitted');
    expect(world.talos.readCount()).toBe(before);
  });

  it('is decided anew when it changes while it is decided', async () => {
    let conflicts = 1;
    const world: OperatorWorld = new OperatorWorld({
      intercept: ({ operation, name }) => {
        if (operation === 'writeDecision' && conflicts > 0) {
          conflicts -= 1;
          world.kubernetes.touchRequest(name);
        }
      },
    });
    await started(world);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(1_000);
    expect(conflicts).toBe(0);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });

  it('is decided anew at once where the change was seen before the write was refused', async () => {
    let refuse: (() => void) | undefined;
    const world: OperatorWorld = new OperatorWorld({
      intercept: ({ operation, name }) => {
        if (operation !== 'writeDecision' || refuse !== undefined) return;
        world.kubernetes.touchRequest(name);
        return new Promise<void>((resolve) => {
          refuse = resolve;
        });
      },
    });
    await started(world);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(500);
    expect(world.outcome('csr-1')).toBeUndefined();
    refuse?.();
    await world.run(500);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });

  it('is left when its user makes a newer one while it is decided', async () => {
    const world = await started(new OperatorWorld({ latencyMs: 2_000 }));
    await world.run(20_000);
    world.request('csr-old', 'worker-1', ['10.5.0.11']);
    await world.run(1_000);
    world.request('csr-new', 'worker-1', ['10.5.0.11']);
    await world.run(10_000);
    expect(world.logged('csr-old')).toEqual(['RequestSuperseded']);
    expect(world.outcome('csr-old')).toBeUndefined();
    expect(world.outcome('csr-new')).toBe('Approved IchorKubeletServing');
  });

  it('is not approved while what it rests on cannot be stored, and the condition says why', async () => {
    let code: 'forbidden' | 'invalid' | undefined = 'invalid';
    const world = await started(
      new OperatorWorld({
        intercept: ({ operation, name }) => {
          if (operation === 'applyMachineStatus' && name === 'cp-1' && code !== undefined) {
            throw new KubeError(code, `The status of cp-1 is ${code}.`);
          }
        },
      }),
    );
    for (const refusal of ['invalid', 'forbidden'] as const) {
      code = refusal;
      world.request(`csr-${refusal}`, 'worker-1', ['10.5.0.11']);
      await world.run(10_000);
      expect(world.outcome(`csr-${refusal}`)).toBeUndefined();
      expect(world.clusterCondition('Operational')).toMatchObject({
        status: 'False',
        reason: 'ApiServerRefuses',
        message: expect.stringContaining(`The status of cp-1 is ${refusal}.`),
      });
    }
    code = undefined;
    await world.run(30_000);
    expect(world.outcome('csr-forbidden')).toBe('Approved IchorKubeletServing');
    expect(world.clusterCondition('Operational')?.reason).toBe('Deciding');
  });

  it('survives an API server that refuses the write, and says so until it is allowed', async () => {
    let forbidden = true;
    const world = await started(
      new OperatorWorld({
        intercept: ({ operation }) => {
          if (operation === 'writeDecision' && forbidden) {
            throw new KubeError('forbidden', 'Writing the decision is forbidden.', { status: 403 });
          }
        },
      }),
    );
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(1_000);
    expect(world.clusterCondition('Operational')).toMatchObject({
      status: 'False',
      reason: 'ApiServerRefuses',
    });
    forbidden = false;
    await world.run(10_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
    expect(world.clusterCondition('Operational')?.status).toBe('True');
  });
});

describe('a request that cannot be decided', () => {
  it('of a node that is nobody’s is left without an Event, and approved once it has a machine', async () => {
    const world = await started(new OperatorWorld());
    world.request('csr-1', 'worker-9', ['10.5.0.19']);
    await world.run(1_000);
    expect(world.logged('csr-1')).toEqual(['NodeNotManaged']);
    expect(world.outcome('csr-1')).toBeUndefined();
    expect(world.kubernetes.events()).toEqual([]);
    world.addMachine({ name: 'worker-9', address: '10.5.0.19' });
    await world.run(1_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });

  it('of an unreadable node is tried at once when the inventory changes', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [...usualMachines, { name: 'worker-4', address: '10.5.0.14', node: null }],
      }),
    );
    world.request('csr-1', 'worker-4', ['10.5.0.14']);
    await world.run(100);
    expect(world.logged('csr-1')).toEqual(['NodeUnreadable']);
    world.setNode({ name: 'worker-4', address: '10.5.0.14' }, {});
    world.setOptions({ extraDNSNames: ['another.example'] });
    await world.run(500);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });

  it('of an unreadable node is tried again and approved once it can be read', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [...usualMachines, { name: 'worker-4', address: '10.5.0.14', node: null }],
      }),
    );
    world.request('csr-1', 'worker-4', ['10.5.0.14']);
    await world.run(30_000);
    expect(world.outcome('csr-1')).toBeUndefined();
    expect(world.logged('csr-1')).toEqual(['NodeUnreadable']);
    // The reason did not change, so it was said once.
    expect(world.log.filter((line) => line.request === 'csr-1')).toHaveLength(1);
    world.setNode({ name: 'worker-4', address: '10.5.0.14' }, {});
    await world.run(60_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });

  it('is left when its user has made a newer one, which is decided', async () => {
    const world = new OperatorWorld();
    world.request('csr-old', 'worker-1', ['10.5.0.11']);
    await world.run(1_000);
    world.request('csr-new', 'worker-1', ['10.5.0.11']);
    await started(world);
    expect(world.logged('csr-old')).toEqual(['RequestSuperseded']);
    expect(world.outcome('csr-old')).toBeUndefined();
    expect(world.outcome('csr-new')).toBe('Approved IchorKubeletServing');
  });

  it('is not superseded by another user that names the same node', async () => {
    const world = new OperatorWorld();
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(2_000);
    world.request('csr-mallory', 'worker-1', ['10.5.0.11'], { username: 'mallory' });
    await started(world);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
    expect(world.outcome('csr-mallory')).toBe('Denied RequesterNotNode');
  });

  it('is left once it is older than a kubelet waits; a second younger, it is decided', async () => {
    const world = new OperatorWorld();
    world.request('csr-stale', 'worker-1', ['10.5.0.11']);
    await world.run(2_000);
    world.request('csr-young', 'worker-2', ['10.5.0.12']);
    await world.run(15 * 60_000 - 1_500);
    world.start();
    await world.run(500);
    expect(world.logged('csr-stale')).toEqual(['RequestStale']);
    expect(world.outcome('csr-stale')).toBeUndefined();
    expect(world.outcome('csr-young')).toBe('Approved IchorKubeletServing');
  });
});

describe('the option', () => {
  it('off: nothing is decided and there are no conditions; on: what waited is decided', async () => {
    const world = new OperatorWorld({ options: { enabled: false } });
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    world.request('csr-2', 'worker-2', ['192.0.2.1']);
    await started(world);
    await world.run(120_000);
    expect(world.outcome('csr-1')).toBeUndefined();
    expect(world.outcome('csr-2')).toBeUndefined();
    expect(world.kubernetes.cluster('lab')['status']).toMatchObject({
      observedGeneration: 1,
      conditions: [],
    });
    world.setOptions({ enabled: true });
    await world.run(1_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
    expect(world.outcome('csr-2')).toBe('Denied IpAddressNotOfNode');
  });

  it('switched off while a decision is on its way stops it', async () => {
    const world = await started(new OperatorWorld({ latencyMs: 300 }));
    await world.run(20_000);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(100);
    world.setOptions({ enabled: false });
    await world.run(5_000);
    expect(world.outcome('csr-1')).toBeUndefined();
  });

  it('unknownNames Pending leaves a name that is nobody’s, and denies a reserved one still', async () => {
    const world = await started(new OperatorWorld({ options: { unknownNames: 'Pending' } }));
    world.request('csr-1', 'worker-1', ['192.0.2.7']);
    world.request('csr-2', 'worker-2', ['10.5.0.100']);
    await world.run(1_000);
    expect(world.logged('csr-1')).toEqual(['NameUnverified']);
    expect(world.outcome('csr-2')).toBe('Denied NameReserved');
  });
});

describe('a lying node', () => {
  const lies = {
    name: 'worker-1',
    address: '10.5.0.11',
    node: { nodeIps: ['10.5.0.11', '10.5.0.12'] },
  };
  const machines = [
    { name: 'cp-1', machineType: 'controlplane' as const, address: '10.5.0.2' },
    lies,
    { name: 'worker-2', address: '10.5.0.12', node: null },
  ];

  it('that reports the address of a stopped machine is not approved, nor after a restart', async () => {
    const world = await started(new OperatorWorld({ machines }));
    world.request('csr-liar', 'worker-1', ['10.5.0.12']);
    await world.run(10_000);
    expect(world.outcome('csr-liar')).toBeUndefined();
    expect(world.logged('csr-liar')).toEqual(['IdentityConflict']);
    await world.stop();
    world.start();
    await world.run(30_000);
    expect(world.outcome('csr-liar')).toBeUndefined();
  });

  it('does not stop the honest machine, started again, from being approved', async () => {
    const world = await started(new OperatorWorld({ machines }));
    world.setNode({ name: 'worker-2', address: '10.5.0.12' }, {});
    world.request('csr-honest', 'worker-2', ['10.5.0.12']);
    await world.run(2_000);
    expect(world.outcome('csr-honest')).toBe('Approved IchorKubeletServing');
  });

  it('that takes a value kept from before a restart is not approved though its holder is down', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [
          ...usualMachines.slice(0, 2),
          {
            name: 'worker-2',
            address: '10.5.0.12',
            node: { nodeIps: ['10.5.0.12', 'fd00:5::12'] },
          },
        ],
      }),
    );
    await world.stop();
    world.talos.removeNode('10.5.0.12');
    world.setNode(
      { name: 'worker-1', address: '10.5.0.11' },
      { nodeIps: ['10.5.0.11', 'fd00:5::12'] },
    );
    world.start();
    world.request('csr-liar', 'worker-1', ['fd00:5::12']);
    await world.run(10_000);
    expect(world.logged('csr-liar')).toEqual(['IdentityConflict']);
    expect(world.outcome('csr-liar')).toBeUndefined();
  });

  it('that gives another machine’s node name gets nothing under it', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [
          ...usualMachines,
          {
            name: 'worker-3',
            address: '10.5.0.13',
            hostname: null,
            node: { nodeName: 'worker-2' },
          },
        ],
      }),
    );
    world.request('csr-liar', 'worker-2', ['10.5.0.13']);
    await world.run(1_000);
    expect(world.outcome('csr-liar')).toBe('Denied NameOfAnotherMachine');
    world.request('csr-honest', 'worker-2', ['10.5.0.12']);
    await world.run(1_000);
    expect(world.outcome('csr-honest')).toBe('Approved IchorKubeletServing');
  });
});

describe('reserved names', () => {
  it('while no control plane has ever answered, a worker that reports the VIP is not approved', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [
          { name: 'cp-1', machineType: 'controlplane', address: '10.5.0.2', node: null },
          {
            name: 'worker-1',
            address: '10.5.0.11',
            node: { nodeIps: ['10.5.0.11', '10.5.0.100'] },
          },
        ],
      }),
    );
    world.request('csr-vip', 'worker-1', ['10.5.0.11', '10.5.0.100']);
    await world.run(30_000);
    expect(world.outcome('csr-vip')).toBeUndefined();
    expect(world.logged('csr-vip')).toEqual(['NodeUnreadable']);
    expect(world.clusterCondition('Operational')).toMatchObject({
      reason: 'ReservedRangesUnknown',
    });
    world.setNode({ name: 'cp-1', address: '10.5.0.2', machineType: 'controlplane' }, {});
    await world.run(70_000);
    expect(world.outcome('csr-vip')).toBe('Denied NameReserved');
  });

  it('stay reserved after a restart with every control plane down', async () => {
    const world = await started(new OperatorWorld());
    await world.stop();
    world.talos.removeNode('10.5.0.2');
    world.start();
    world.request('csr-vip', 'worker-1', ['10.5.0.11', '10.5.0.100']);
    world.request('csr-good', 'worker-2', ['10.5.0.12']);
    await world.run(8_000);
    expect(world.outcome('csr-vip')).toBe('Denied NameReserved');
    expect(world.outcome('csr-good')).toBe('Approved IchorKubeletServing');
  });

  it('an entry that is neither address nor CIDR makes the control plane unreadable', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [
          {
            name: 'cp-1',
            machineType: 'controlplane',
            address: '10.5.0.2',
            node: { excludeSubnets: ['10.244.0.0/16', 'vip'] },
          },
          { name: 'worker-1', address: '10.5.0.11' },
        ],
      }),
    );
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(5_000);
    expect(world.logged('csr-1')).toEqual(['NodeUnreadable']);
  });

  it('the endpoint of a single control plane is its own, and nobody else’s', async () => {
    const world = await started(
      new OperatorWorld({ spec: { kubernetes: { endpoint: 'https://10.5.0.2:6443' } } }),
    );
    world.request('csr-cp', 'cp-1', ['10.5.0.2']);
    world.request('csr-worker', 'worker-1', ['10.5.0.11', '10.5.0.2']);
    await world.run(1_000);
    expect(world.outcome('csr-cp')).toBe('Approved IchorKubeletServing');
    expect(world.outcome('csr-worker')).toBe('Denied NameOfAnotherMachine');
  });

  it('the endpoint that is no machine’s is reserved', async () => {
    const world = await started(
      new OperatorWorld({ spec: { kubernetes: { endpoint: 'https://10.5.0.50:6443' } } }),
    );
    world.request('csr-1', 'worker-1', ['10.5.0.11', '10.5.0.50']);
    await world.run(1_000);
    expect(world.outcome('csr-1')).toBe('Denied NameReserved');
  });

  it('a cluster without control planes needs reserved subnets', async () => {
    const machines = usualMachines.slice(1);
    const without = await started(new OperatorWorld({ machines }));
    without.request('csr-1', 'worker-1', ['10.5.0.11']);
    await without.run(5_000);
    expect(without.logged('csr-1')).toEqual(['NodeUnreadable']);
    const reserved = { subnets: ['10.96.0.0/12', '10.244.0.0/16'] };
    const given = await started(new OperatorWorld({ machines, spec: { reserved } }));
    given.request('csr-1', 'worker-1', ['10.5.0.11']);
    await given.run(5_000);
    expect(given.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });
});

describe('readings', () => {
  it('another machine is read again before its name is given as the reason', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [
          ...usualMachines.slice(0, 2),
          { name: 'worker-2', address: '10.5.0.12', node: { nodeIps: ['10.5.0.12', '10.5.0.77'] } },
        ],
      }),
    );
    await world.run(60_000);
    // The address moved from worker-2 to worker-1 since both were read.
    world.setNode({ name: 'worker-2', address: '10.5.0.12' }, {});
    world.setNode(
      { name: 'worker-1', address: '10.5.0.11' },
      { nodeIps: ['10.5.0.11', '10.5.0.77'] },
    );
    world.request('csr-1', 'worker-1', ['10.5.0.11', '10.5.0.77']);
    await world.run(1_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });

  it('a conflict that has ended is noticed while the request still waits', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [
          ...usualMachines.slice(0, 2),
          { name: 'worker-2', address: '10.5.0.12', node: { nodeIps: ['10.5.0.12', '10.5.0.77'] } },
        ],
      }),
    );
    world.setNode(
      { name: 'worker-1', address: '10.5.0.11' },
      { nodeIps: ['10.5.0.11', '10.5.0.77'] },
    );
    await world.run(20_000);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(60_000);
    expect(world.logged('csr-1')).toEqual(['IdentityConflict']);
    world.setNode({ name: 'worker-2', address: '10.5.0.12' }, {});
    await world.run(130_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });

  it('a frozen node holds up nobody else', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [...usualMachines, { name: 'worker-4', address: '10.5.0.14' }],
      }),
    );
    await world.run(20_000);
    world.talos.setFault('10.5.0.14', 'frozen');
    world.request('csr-frozen', 'worker-4', ['10.5.0.14']);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    world.request('csr-2', 'worker-2', ['10.5.0.12']);
    await world.run(500);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
    expect(world.outcome('csr-2')).toBe('Approved IchorKubeletServing');
    expect(world.outcome('csr-frozen')).toBeUndefined();
  });

  it('forty silent nodes hold up nobody else', async () => {
    const silent = Array.from({ length: 40 }, (_, index) => ({
      name: `silent-${index}`,
      address: `10.5.1.${index}`,
    }));
    const world = new OperatorWorld({ machines: [...usualMachines, ...silent] });
    for (const { address } of silent) world.talos.setFault(address, 'frozen');
    world.start();
    await world.run(30_000);
    for (const { name, address } of silent) world.request(`csr-${name}`, name, [address]);
    await world.run(10);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(500);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
    expect(world.outcome('csr-silent-0')).toBeUndefined();
  });

  it('nothing is approved before each machine was tried once', async () => {
    const world = new OperatorWorld({
      machines: [...usualMachines, { name: 'worker-4', address: '10.5.0.14' }],
    });
    world.talos.setFault('10.5.0.14', 'frozen');
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    world.start();
    await world.run(4_000);
    expect(world.outcome('csr-1')).toBeUndefined();
    await world.run(2_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });

  it('an address of an additional subnet waits while some machine was never read', async () => {
    const options = { extraSubnets: ['198.51.100.0/24'] };
    const world = await started(
      new OperatorWorld({
        options,
        machines: [...usualMachines, { name: 'worker-4', address: '10.5.0.14', node: null }],
      }),
    );
    world.request('csr-1', 'worker-1', ['10.5.0.11', '198.51.100.9']);
    await world.run(1_000);
    expect(world.logged('csr-1')).toEqual(['NameUnverified']);
    world.setNode({ name: 'worker-4', address: '10.5.0.14' }, {});
    await world.run(130_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });
});

describe('the status of the cluster', () => {
  it('that is refused is written again after a pause, however much happens meanwhile', async () => {
    let isRefused = true;
    let writes = 0;
    const world = await started(
      new OperatorWorld({
        intercept: ({ operation }) => {
          if (operation !== 'applyClusterStatus') return;
          writes += 1;
          if (isRefused) throw new KubeError('forbidden', 'Writing the status is forbidden.');
        },
      }),
    );
    for (let number = 0; number < 100; number += 1) {
      world.request(`csr-${number}`, 'worker-1', [], { username: `mallory-${number}` });
      await world.run(100);
    }
    expect(writes).toBeGreaterThanOrEqual(5);
    expect(writes).toBeLessThanOrEqual(7);
    isRefused = false;
    await world.run(2_000);
    expect(world.clusterCondition('Operational')?.reason).toBe('Deciding');
  });
});

describe('floods', () => {
  const decidedOf = (world: OperatorWorld, prefix: string) =>
    world.kubernetes
      .requests()
      .filter(({ metadata }) => metadata.name?.startsWith(prefix))
      .filter(({ metadata }) => world.outcome(metadata.name ?? '') !== undefined).length;

  async function untilApproved(world: OperatorWorld, request: string): Promise<void> {
    for (let tries = 0; tries < 1_000 && world.outcome(request) === undefined; tries += 1) {
      await world.run(10);
    }
    expect(world.outcome(request)).toBe('Approved IchorKubeletServing');
  }

  it('of another node: the honest request comes before five of them', async () => {
    const world = new OperatorWorld({ latencyMs: 40 });
    for (let number = 0; number < 150; number += 1) {
      world.request(`flood-${number}`, 'worker-2', [], {
        san: [dnsEntry('worker-2'), { kind: 'uri', text: 'https://a.example' }],
      });
    }
    world.request('csr-honest', 'worker-1', ['10.5.0.11']);
    world.start();
    await untilApproved(world, 'csr-honest');
    expect(decidedOf(world, 'flood-')).toBeLessThan(5);
    await world.run(60_000);
    expect(decidedOf(world, 'flood-')).toBe(150);
  });

  it('of one stranger that names the victim: the honest request comes before five of them', async () => {
    const world = new OperatorWorld({ latencyMs: 40 });
    for (let number = 0; number < 150; number += 1) {
      world.request(`flood-${number}`, 'worker-1', ['10.5.0.11'], { username: 'mallory' });
    }
    world.request('csr-honest', 'worker-1', ['10.5.0.11']);
    world.start();
    await untilApproved(world, 'csr-honest');
    expect(decidedOf(world, 'flood-')).toBeLessThan(5);
  });

  it('of 150 strangers that name the victim: the honest request comes before half of them', async () => {
    const world = new OperatorWorld({ latencyMs: 40 });
    for (let number = 0; number < 150; number += 1) {
      const changes = { username: `mallory-${number}` };
      world.request(`flood-${number}`, 'worker-1', ['10.5.0.11'], changes);
    }
    world.request('csr-honest', 'worker-1', ['10.5.0.11']);
    world.start();
    await untilApproved(world, 'csr-honest');
    expect(decidedOf(world, 'flood-')).toBeLessThan(75);
    await world.run(60_000);
    expect(decidedOf(world, 'flood-')).toBe(150);
  });
});

describe('certificates approved by somebody else', () => {
  it('for a foreign name never count, and the condition names them', async () => {
    const world = await started(new OperatorWorld());
    world.kubernetes.holdWatches(true);
    world.request('csr-1', 'worker-1', ['10.5.0.11', '10.5.0.12']);
    world.kubernetes.decideRequest('csr-1', 'Approved', 'KubectlApprove');
    world.kubernetes.holdWatches(false);
    await world.run(2_000);
    expect(world.machineStatus('worker-1')['kubeletServingCertificate']).toBeUndefined();
    expect(world.clusterCondition('KubeletServingCertificates')).toMatchObject({
      status: 'False',
      reason: 'IssuedOutsideIdentity',
      message: expect.stringContaining('worker-1'),
    });
  });

  it('for its own names count', async () => {
    const world = await started(new OperatorWorld());
    world.kubernetes.holdWatches(true);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    world.kubernetes.decideRequest('csr-1', 'Approved', 'KubectlApprove');
    world.kubernetes.holdWatches(false);
    await world.run(2_000);
    expect(world.machineStatus('worker-1')['kubeletServingCertificate']).toMatchObject({
      request: 'csr-1',
    });
  });

  it('for a name that is nobody’s count under unknownNames Pending, and are named', async () => {
    const machines = usualMachines.slice(0, 1);
    const world = await started(
      new OperatorWorld({ machines, options: { unknownNames: 'Pending' } }),
    );
    world.request('csr-1', 'cp-1', ['10.5.0.2', '192.0.2.7']);
    await world.run(1_000);
    expect(world.logged('csr-1')).toEqual(['NameUnverified']);
    world.kubernetes.decideRequest('csr-1', 'Approved', 'KubectlApprove');
    await world.run(1_000);
    expect(world.clusterCondition('KubeletServingCertificates')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('192.0.2.7'),
    });
  });
});

describe('a certificate of a machine that was made anew', () => {
  it('does not count for the new machine where its names are not the new one’s', async () => {
    const world = await started(new OperatorWorld());
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(2_000);
    const recorded = (machine: string) =>
      world.machineStatus(machine)['kubeletServingCertificate'] as { request: string } | undefined;
    expect(recorded('worker-1')?.request).toBe('csr-1');
    world.kubernetes.deleteMachine('worker-1');
    world.addMachine({ name: 'worker-1', address: '10.5.0.31' });
    await world.run(2_000);
    expect(world.machineStatus('worker-1')).toMatchObject({
      identity: { ipAddresses: [{ value: '10.5.0.31', source: 'NodeIP' }] },
    });
    expect(recorded('worker-1')).toBeUndefined();
    world.request('csr-2', 'worker-1', ['10.5.0.31']);
    await world.run(2_000);
    expect(recorded('worker-1')?.request).toBe('csr-2');
  });
});

describe('several clusters', () => {
  it('with one node name read from two machines: neither of them is decided', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [
          ...usualMachines,
          { name: 'm-3', address: '10.5.0.13', hostname: null, node: { nodeName: 'worker-3' } },
          { name: 'm-4', address: '10.5.0.14', hostname: null, node: { nodeName: 'worker-3' } },
        ],
      }),
    );
    world.request('csr-1', 'worker-3', ['10.5.0.13']);
    await world.run(1_000);
    expect(world.outcome('csr-1')).toBeUndefined();
    expect(world.logged('csr-1')).toEqual(['IdentityConflict']);
    for (const name of ['m-3', 'm-4']) {
      expect(world.kubernetes.events()).toContainEqual(
        expect.objectContaining({ machine: name, reason: 'IdentityConflict', count: 1 }),
      );
      expect(world.clusterCondition('KubeletServingCertificates')?.message).toContain(
        `${name} (request csr-1 is pending: IdentityConflict)`,
      );
    }
    world.setNode({ name: 'm-4', address: '10.5.0.14' }, { nodeName: 'worker-4' });
    await world.run(20_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });

  it('with one API server: neither decides, and the condition says why', async () => {
    const world = await started(new OperatorWorld());
    world.kubernetes.createCluster('twin', {
      security: { kubeletServingCertificates: { enabled: true } },
    });
    await world.run(2_000);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(5_000);
    expect(world.outcome('csr-1')).toBeUndefined();
    for (const [cluster, other] of [
      ['lab', 'twin'],
      ['twin', 'lab'],
    ] as const) {
      expect(world.clusterCondition('Operational', cluster)).toMatchObject({
        status: 'False',
        reason: 'SharedApiServer',
        message: expect.stringContaining(other),
      });
    }
    world.kubernetes.deleteCluster('twin');
    await world.run(5_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
  });
});

describe('names of addresses', () => {
  it('an address spelled another way in the inventory is the same address', async () => {
    const world = await started(
      new OperatorWorld({
        machines: [
          ...usualMachines.slice(0, 2),
          { name: 'worker-2', address: 'FD00:5:0::12', node: null },
        ],
      }),
    );
    world.setNode(
      { name: 'worker-1', address: '10.5.0.11' },
      { nodeIps: ['10.5.0.11', 'fd00:5::12'] },
    );
    await world.run(11_000);
    world.request('csr-liar', 'worker-1', [], {
      san: [dnsEntry('worker-1'), ipEntry('fd00:5::12')],
    });
    await world.run(2_000);
    expect(world.logged('csr-liar')).toEqual(['IdentityConflict']);
  });
});
