import { describe, expect, it } from 'vitest';
import { OperatorWorld } from '../testing/operator-world.ts';

const twin = (enabled: boolean) => ({
  security: { kubeletServingCertificates: { enabled } },
});

async function startedWithTwin(enabled: boolean): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  world.kubernetes.createCluster('twin', twin(enabled));
  world.start();
  await world.run(2_000);
  return world;
}

describe('two TalosClusters with one API server', () => {
  it('share nothing while one of them is off', async () => {
    const world = await startedWithTwin(false);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(2_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
    expect(world.clusterCondition('Operational')).toMatchObject({ reason: 'Deciding' });
    expect(world.clusterCondition('Operational', 'twin')).toBeUndefined();
    await world.stop();
  });

  it('decide nothing while both are on, and what waited once one was switched off', async () => {
    const world = await startedWithTwin(true);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(2_000);
    expect(world.outcome('csr-1')).toBeUndefined();
    expect(world.clusterCondition('Operational')).toMatchObject({
      status: 'False',
      reason: 'SharedApiServer',
      message: expect.stringContaining('twin'),
    });
    world.kubernetes.updateCluster('twin', twin(false));
    await world.run(2_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
    expect(world.clusterCondition('Operational')).toMatchObject({ reason: 'Deciding' });
    await world.stop();
  });
});

describe('an object that cannot be used', () => {
  it('stops its own cluster until it is mended, and says so', async () => {
    const world = new OperatorWorld();
    const spec = { clusterRef: { name: 'lab' }, machineType: 'worker', address: 'no address' };
    world.kubernetes.createMachine('broken', spec);
    world.start();
    await world.run(2_000);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(2_000);
    expect(world.outcome('csr-1')).toBeUndefined();
    expect(world.clusterCondition('Operational')).toMatchObject({
      status: 'False',
      reason: 'InvalidObject',
      message: expect.stringMatching(
        /^Nothing is decided\. Mend TalosMachine broken: .*spec\.address/,
      ),
    });
    const logged = () => world.log.filter(({ message }) => message === 'an object cannot be used');
    expect(logged()).toMatchObject([{ kind: 'TalosMachine', name: 'broken' }]);

    world.kubernetes.updateMachine('broken', { ...spec, address: '10.5.0.19' });
    await world.run(6_000);
    expect(world.clusterCondition('Operational')).toMatchObject({ reason: 'Deciding' });
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
    expect(logged()).toHaveLength(1);
    await world.stop();
  });

  it('of another cluster is only logged; of no cluster that can be read it is said, too', async () => {
    const world = new OperatorWorld();
    const broken = { machineType: 'worker', address: 'no address' };
    world.kubernetes.createMachine('elsewhere', { ...broken, clusterRef: { name: 'other' } });
    world.start();
    await world.run(2_000);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(2_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');
    expect(world.clusterCondition('Operational')).toMatchObject({ reason: 'Deciding' });

    world.kubernetes.createMachine('nowhere', broken);
    world.request('csr-2', 'worker-2', ['10.5.0.12']);
    await world.run(6_000);
    expect(world.outcome('csr-2')).toBe('Approved IchorKubeletServing');
    expect(world.clusterCondition('Operational')).toMatchObject({
      status: 'False',
      reason: 'InvalidObject',
      message: expect.stringMatching(/^Mend TalosMachine nowhere: /),
    });
    await world.stop();
  });
});
