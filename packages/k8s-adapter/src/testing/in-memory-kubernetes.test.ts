import { describe, expect, it } from 'vitest';
import { KubeError } from '../kube-error.ts';
import { inMemoryKubernetes } from './in-memory-kubernetes.ts';
import { type KubernetesUnderTest, kubernetesCases } from './kubernetes-cases.ts';

const request = Buffer.from('a request').toString('base64');

function underTest(): KubernetesUnderTest {
  const kubernetes = inMemoryKubernetes();
  return {
    inventory: kubernetes.inventory(),
    signingCluster: kubernetes.signingCluster(),
    prefix: '',
    async createRequest(name, signerName) {
      kubernetes.createRequest({
        name,
        username: 'system:node:worker-1',
        request,
        ...(signerName === undefined ? {} : { signerName }),
      });
    },
    touchRequest: async (name) => kubernetes.touchRequest(name),
    deleteRequest: async (name) => kubernetes.deleteRequest(name),
    readRequest: async (name) => kubernetes.request(name),
    createMachine: async (name, spec) => void kubernetes.createMachine(name, spec),
    updateMachine: async (name, spec) => void kubernetes.updateMachine(name, spec),
    deleteMachine: async (name) => kubernetes.deleteMachine(name),
    readMachine: async (name) => kubernetes.machine(name),
    createCluster: async (name, spec) => void kubernetes.createCluster(name, spec),
    createSecret: async (name, data) => kubernetes.setSecret(name, data),
    readEvents: async (machine) => kubernetes.events().filter((event) => event.machine === machine),
  };
}

describe('the in-memory Kubernetes keeps what a real one promises', () => {
  for (const { title, run } of kubernetesCases) it(title, () => run(underTest()));
});

describe('the in-memory Kubernetes', () => {
  const approved = { type: 'Approved', reason: 'R', message: 'M' } as const;

  it('tells nobody of a change during the write itself', async () => {
    const kubernetes = inMemoryKubernetes();
    const cluster = kubernetes.signingCluster();
    await kubernetes.settled();
    kubernetes.createRequest({ name: 'csr-a', username: 'system:node:worker-1', request });
    expect(cluster.requests.list()).toEqual([]);
    await kubernetes.settled();
    expect(cluster.requests.list().map(({ name }) => name)).toEqual(['csr-a']);
  });

  it('shows the past while watches are held, so that a write conflicts', async () => {
    const kubernetes = inMemoryKubernetes();
    const cluster = kubernetes.signingCluster();
    kubernetes.createRequest({ name: 'csr-a', username: 'system:node:worker-1', request });
    await kubernetes.settled();
    kubernetes.holdWatches(true);
    kubernetes.decideRequest('csr-a', 'Denied', 'SomebodyElse');
    await kubernetes.settled();
    const [stale] = cluster.requests.list();
    if (stale === undefined) throw new Error('the request is listed');
    expect(stale.conditions).toEqual([]);
    expect(await cluster.writeDecision(stale, approved)).toBe('conflict');
    kubernetes.holdWatches(false);
    await kubernetes.settled();
    expect(cluster.requests.list()[0]?.conditions).toEqual([
      { type: 'Denied', reason: 'SomebodyElse', message: '' },
    ]);
  });

  it('stamps requests with the given clock in whole seconds', async () => {
    const kubernetes = inMemoryKubernetes({ now: () => 1_700_000_000_900 });
    const cluster = kubernetes.signingCluster();
    kubernetes.createRequest({ username: 'u', request });
    await kubernetes.settled();
    expect(cluster.requests.list()[0]?.createdAt).toBe(1_700_000_000_000);
    expect(cluster.serverTime()).toBe(1_700_000_000_900);
  });

  it('has an approved request signed by the given signer, and a denied one not', async () => {
    const kubernetes = inMemoryKubernetes({ sign: () => 'the certificate' });
    const cluster = kubernetes.signingCluster();
    kubernetes.createRequest({ name: 'good', username: 'u', request });
    kubernetes.createRequest({ name: 'bad', username: 'u', request });
    await kubernetes.settled();
    for (const received of cluster.requests.list()) {
      const type = received.name === 'good' ? 'Approved' : 'Denied';
      await cluster.writeDecision(received, { type, reason: 'R', message: 'M' });
    }
    await kubernetes.settled();
    const certificates = Object.fromEntries(
      cluster.requests.list().map(({ name, csr }) => [name, csr.status?.certificate]),
    );
    expect(certificates).toEqual({
      good: Buffer.from('the certificate').toString('base64'),
      bad: undefined,
    });
  });

  it('fails a call as the interceptor says, and only that one', async () => {
    const kubernetes = inMemoryKubernetes({
      intercept: ({ operation, name }) => {
        if (operation === 'readSecret' && name === 'b') throw new KubeError('unavailable', 'No.');
      },
    });
    kubernetes.setSecret('a', { key: 'value' });
    kubernetes.setSecret('b', { key: 'value' });
    const inventory = kubernetes.inventory();
    expect([...(await inventory.readSecret('a')).keys()]).toEqual(['key']);
    await expect(inventory.readSecret('b')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('gives a port opened later a complete view of its own, and a closed one no news', async () => {
    const kubernetes = inMemoryKubernetes();
    const first = kubernetes.inventory();
    kubernetes.createCluster('one', {});
    await kubernetes.settled();
    first.close();
    kubernetes.createCluster('two', {});
    const second = kubernetes.inventory();
    expect(second.clusters.synced()).toBe(false);
    await kubernetes.settled();
    expect(second.clusters.synced()).toBe(true);
    expect(first.clusters.list().map(({ value }) => value.name)).toEqual(['one']);
    expect(second.clusters.list().map(({ value }) => value.name)).toEqual(['one', 'two']);
  });

  it('applies a status that equals the stored one without a new version', async () => {
    const kubernetes = inMemoryKubernetes();
    const inventory = kubernetes.inventory();
    kubernetes.createMachine('m', {});
    await inventory.applyMachineStatus('m', { nodeName: 'worker-1' });
    const before = kubernetes.machine('m').metadata.resourceVersion;
    await inventory.applyMachineStatus('m', { nodeName: 'worker-1' });
    expect(kubernetes.machine('m').metadata.resourceVersion).toBe(before);
    await inventory.applyMachineStatus('m', { nodeName: 'worker-2' });
    expect(kubernetes.machine('m').metadata.resourceVersion).not.toBe(before);
  });

  it('takes a decision on a request that is too large to be kept', async () => {
    const kubernetes = inMemoryKubernetes();
    const cluster = kubernetes.signingCluster();
    const long = 'A'.repeat(300_000);
    kubernetes.createRequest({ name: 'large', username: 'u', request: long });
    await kubernetes.settled();
    const [received] = cluster.requests.list();
    if (received === undefined) throw new Error('the request is listed');
    const denied = { type: 'Denied', reason: 'R', message: 'M' } as const;
    expect(await cluster.writeDecision(received, denied)).toBe('written');
    expect(await cluster.writeDecision(received, denied)).toBe('conflict');
    expect(kubernetes.request('large')).toMatchObject({ spec: { request: long } });
  });

  it('can lose the answer of a call that took effect', async () => {
    const kubernetes = inMemoryKubernetes({
      afterwards: ({ operation }) => {
        if (operation === 'writeDecision') throw new KubeError('unavailable', 'Lost.');
      },
    });
    const cluster = kubernetes.signingCluster();
    kubernetes.createRequest({ name: 'csr-a', username: 'u', request });
    await kubernetes.settled();
    const [received] = cluster.requests.list();
    if (received === undefined) throw new Error('the request is listed');
    await expect(cluster.writeDecision(received, approved)).rejects.toThrow('Lost.');
    await kubernetes.settled();
    expect(cluster.requests.list()[0]?.conditions).toEqual([approved]);
  });

  it('can break the watches of open ports, whose views stay readable', async () => {
    const kubernetes = inMemoryKubernetes();
    const inventory = kubernetes.inventory();
    kubernetes.createMachine('m', {});
    await kubernetes.settled();
    const told: string[] = [];
    inventory.machines.subscribe((change) => {
      if (change.kind === 'failed') told.push(change.message);
    });
    kubernetes.breakWatches('No route.');
    expect(told).toEqual(['No route.']);
    expect(inventory.machines.list()).toHaveLength(1);
  });
});
