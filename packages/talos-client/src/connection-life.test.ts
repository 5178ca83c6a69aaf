import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AccessSource } from './access-source.ts';
import { createTalosClient, type TalosClientOptions } from './create-talos-client.ts';
import type { TalosAccess } from './talos-client.ts';
import { TalosconfigError } from './talosconfig-error.ts';
import { fakeClusterCertificates } from './testing/fake-cluster.ts';
import { type FakeTalosNode, startFakeTalosNode } from './testing/fake-talos-node.ts';
import { nodeResources } from './testing/node-resources.ts';
import { Started } from './testing/started.ts';
import { startTcpRelay, type TcpRelay } from './testing/tcp-relay.ts';

const cluster = fakeClusterCertificates();
const target = { address: '127.0.0.1', controlPlane: false };

const started = new Started();
afterEach(() => started.stopAll());

let node: FakeTalosNode;
let relay: TcpRelay;
beforeEach(async () => {
  node = started.with(
    await startFakeTalosNode({
      clientCa: cluster.authority.crt,
      certificate: cluster.serverCertificate('127.0.0.1', 'localhost'),
      resources: nodeResources({ nodeName: 'worker-1', nodeIps: ['10.5.0.11'] }),
    }),
  );
  relay = started.with(await startTcpRelay(node.port));
});

function sourceOf(access: TalosAccess) {
  const source = { access: access as TalosAccess | TalosconfigError };
  const current = async () => {
    if (source.access instanceof TalosconfigError) {
      throw source.access;
    }
    return source.access;
  };
  return Object.assign(source, { current });
}

function client(access: AccessSource, options: Partial<TalosClientOptions> = {}) {
  return started.closing(createTalosClient({ access, port: relay.port, ...options }));
}

/** Makes the node hold every call until it is let go. */
function holdCalls(): () => void {
  let letGo = () => {};
  const held = new Promise<undefined>((resolve) => {
    letGo = () => resolve(undefined);
  });
  node.override = () => held;
  return letGo;
}

async function whenCalled(times: number): Promise<void> {
  while (node.calls.length < times) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('a connection', () => {
  it('serves all reads of a node, one after another and side by side', async () => {
    const talos = client(sourceOf(cluster.access()));
    await talos.readNodeFacts(target);
    await Promise.all([talos.readNodeFacts(target), talos.readNodeFacts(target)]);
    expect(node.calls).toHaveLength(15);
    expect(relay.used).toBe(1);
  });

  it('that was reset since the last read is replaced within the next one', async () => {
    const talos = client(sourceOf(cluster.access()));
    await talos.readNodeFacts(target);
    relay.resetOpenOnData();
    expect((await talos.readNodeFacts(target)).nodeName).toBe('worker-1');
    expect(relay.used).toBe(2);
  });

  it('to a peer that vanished without a word ends with deadline once, and is not used again', async () => {
    const talos = client(sourceOf(cluster.access()), { deadlineMs: 1000 });
    await talos.readNodeFacts(target);
    relay.freezeOpen();
    await expect(talos.readNodeFacts(target)).rejects.toMatchObject({ code: 'deadline' });
    expect((await talos.readNodeFacts(target)).nodeName).toBe('worker-1');
    expect(relay.used).toBe(2);
    // The dead one is gone too: its end was not left to a peer that never answers.
    await vi.waitFor(() => expect(relay.open).toBe(1));
  });

  it('is kept when a read fails for another reason', async () => {
    const talos = client(sourceOf(cluster.access()));
    node.resources = [];
    await expect(talos.readNodeFacts(target)).rejects.toMatchObject({ code: 'notFound' });
    node.resources = nodeResources({ nodeName: 'worker-1', nodeIps: [] });
    await talos.readNodeFacts(target);
    expect(relay.used).toBe(1);
  });

  it('that rested makes room for another when there may be no more', async () => {
    const talos = client(sourceOf(cluster.access()), { maxConnections: 1 });
    await talos.readNodeFacts(target);
    await talos.readNodeFacts({ address: 'localhost', controlPlane: false });
    await talos.readNodeFacts(target);
    expect(relay.used).toBe(3);
  });

  it('is refused when there may be no more and none rests', async () => {
    const talos = client(sourceOf(cluster.access()), { maxConnections: 1 });
    const letGo = holdCalls();
    const busy = talos.readNodeFacts(target);
    await whenCalled(5);
    await expect(
      talos.readNodeFacts({ address: 'localhost', controlPlane: false }),
    ).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('all 1 connections are in use'),
    });
    letGo();
    expect((await busy).nodeName).toBe('worker-1');
  });

  it('ends with the client', async () => {
    const talos = client(sourceOf(cluster.access()));
    holdCalls();
    const inFlight = talos.readNodeFacts(target);
    await whenCalled(5);
    talos.close();
    await expect(inFlight).rejects.toMatchObject({ code: 'unreachable' });
  });
});

describe('new credentials', () => {
  it('open a new connection, while a read in flight finishes on the old one', async () => {
    const source = sourceOf(cluster.access());
    const talos = client(source);
    const letGo = holdCalls();
    const old = talos.readNodeFacts(target);
    await whenCalled(5);

    source.access = cluster.access();
    node.override = undefined;
    expect((await talos.readNodeFacts(target)).nodeName).toBe('worker-1');
    expect(relay.used).toBe(2);

    letGo();
    expect((await old).nodeName).toBe('worker-1');
    await talos.readNodeFacts(target);
    expect(relay.used).toBe(2);
  });

  it('that are the same, or differ in endpoints only, keep the connection', async () => {
    const access = cluster.access();
    const source = sourceOf(access);
    const talos = client(source);
    await talos.readNodeFacts(target);
    source.access = { ...access, endpoints: ['10.5.0.2'] };
    await talos.readNodeFacts(target);
    expect(relay.used).toBe(1);
  });

  it('that are of another cluster are refused, and the old ones are not used on', async () => {
    const source = sourceOf(cluster.access());
    const talos = client(source);
    await talos.readNodeFacts(target);
    source.access = fakeClusterCertificates().access();
    await expect(talos.readNodeFacts(target)).rejects.toMatchObject({ code: 'unauthenticated' });
    source.access = cluster.access();
    expect((await talos.readNodeFacts(target)).nodeName).toBe('worker-1');
  });

  it('that cannot be read fail the read with their own sentence, until they can', async () => {
    const access = cluster.access();
    const source = sourceOf(access);
    const talos = client(source);
    await talos.readNodeFacts(target);
    const before = node.calls.length;
    source.access = new TalosconfigError('/etc/talos/config', 'contexts.lab.key', 'is missing');
    await expect(talos.readNodeFacts(target)).rejects.toMatchObject({
      code: 'unauthenticated',
      target: '127.0.0.1',
      message: expect.stringContaining('/etc/talos/config: contexts.lab.key is missing'),
    });
    expect(node.calls).toHaveLength(before);
    source.access = access;
    expect((await talos.readNodeFacts(target)).nodeName).toBe('worker-1');
  });

  it('that never come end the read at the deadline', async () => {
    const talos = client({ current: () => new Promise(() => {}) }, { deadlineMs: 100 });
    await expect(talos.readNodeFacts(target)).rejects.toMatchObject({ code: 'deadline' });
  });
});
