import { describe, expect, it } from 'vitest';
import { inMemoryTalos } from './in-memory-talos.ts';
import { describeTalosClient } from './talos-client.suite.ts';

const address = '10.5.0.21';

describeTalosClient('inMemoryTalos', async (node) => {
  const talos = inMemoryTalos({ nodes: { [address]: node }, frozenWait: () => Promise.resolve() });
  return {
    client: talos,
    address,
    setNode: async (next) => talos.setNode(address, next),
    setFault: async (fault) => talos.setFault(address, fault),
    stop: async () => talos.close(),
  };
});

describe('inMemoryTalos', () => {
  const node = { nodeName: 'w1', nodeIps: ['10.5.0.11'] };

  it('counts reads per address, failed ones too', async () => {
    const talos = inMemoryTalos({ nodes: { '10.5.0.11': node } });
    await talos.readNodeFacts({ address: '10.5.0.11', controlPlane: false });
    await talos.readNodeFacts({ address: '10.5.0.12', controlPlane: false }).catch(() => {});
    expect([talos.readCount('10.5.0.11'), talos.readCount('10.5.0.12')]).toStrictEqual([1, 1]);
    expect([talos.readCount('10.5.0.13'), talos.readCount()]).toStrictEqual([0, 2]);
  });

  it('holds a frozen read until its wait is over, and no other read', async () => {
    let thaw = () => {};
    const frozenWait = () =>
      new Promise<void>((resolve) => {
        thaw = resolve;
      });
    const talos = inMemoryTalos({ nodes: { a: node, b: node }, frozenWait });
    talos.setFault('a', 'frozen');
    const frozen = talos.readNodeFacts({ address: 'a', controlPlane: false });
    expect(await talos.readNodeFacts({ address: 'b', controlPlane: false })).toMatchObject({
      nodeName: 'w1',
    });
    expect(talos.readsInFlight).toBe(1);
    thaw();
    await expect(frozen).rejects.toMatchObject({ code: 'deadline' });
    expect(talos.readsInFlight).toBe(0);
  });

  it('forgets a node that is removed', async () => {
    const talos = inMemoryTalos({ nodes: { a: node } });
    talos.removeNode('a');
    await expect(talos.readNodeFacts({ address: 'a', controlPlane: false })).rejects.toMatchObject({
      code: 'unreachable',
    });
  });
});
