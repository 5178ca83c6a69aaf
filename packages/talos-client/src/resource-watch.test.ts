import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixedAccess } from './access-source.ts';
import type { ResourceEvent } from './cosi-client.ts';
import { createTalosClient } from './create-talos-client.ts';
import { fakeClusterCertificates } from './testing/fake-cluster.ts';
import { type FakeTalosNode, startFakeTalosNode } from './testing/fake-talos-node.ts';
import { nodeResources } from './testing/node-resources.ts';
import { Started } from './testing/started.ts';
import { type WireEvent, watchCall } from './wire.ts';

const cluster = fakeClusterCertificates();
const target = { address: '127.0.0.1' };
const nodeIps = 'NodeIPs.kubernetes.talos.dev';
const resources = nodeResources({ nodeName: 'worker-1', nodeIps: ['10.5.0.11'] });
const [nodeIp = null] = resources;

const started = new Started();
afterEach(() => started.stopAll());

let node: FakeTalosNode;
beforeEach(async () => {
  node = started.with(
    await startFakeTalosNode({
      clientCa: cluster.authority.crt,
      certificate: cluster.serverCertificate('127.0.0.1'),
      resources,
    }),
  );
});

function client(deadlineMs = 3000) {
  const access = fixedAccess(cluster.access());
  return started.closing(createTalosClient({ access, port: node.port, deadlineMs }));
}

const responses = (...events: WireEvent[][]) =>
  [[], ...events].map((event) => watchCall.encodeResponse({ event }));

async function take(events: AsyncIterable<ResourceEvent>, count: number) {
  const kinds: string[] = [];
  for await (const event of events) {
    kinds.push(event.kind);
    if (kinds.length === count) {
      break;
    }
  }
  return kinds;
}

describe('readResource', () => {
  it('gives a resource as the node sent it', async () => {
    expect(await client().readResource(target, 'k8s', nodeIps, 'kubelet')).toMatchObject({
      id: 'kubelet',
      version: '1',
      phase: 'running',
      protoSpec: nodeIp?.spec?.protoSpec,
    });
  });

  it('says which one does not exist', async () => {
    await expect(client().readResource(target, 'k8s', nodeIps, 'other')).rejects.toMatchObject({
      name: 'TalosError',
      code: 'notFound',
      message: expect.stringContaining(`${nodeIps} k8s/other`),
    });
  });

  it('takes resources far larger than any fact', async () => {
    const yamlSpec = 'x'.repeat(5 * 1024 * 1024);
    node.resources = [
      { metadata: nodeIp?.metadata ?? null, spec: { protoSpec: new Uint8Array(), yamlSpec } },
    ];
    const resource = await client().readResource(target, 'k8s', nodeIps, 'kubelet');
    expect(resource.yamlSpec).toHaveLength(yamlSpec.length);
  });
});

describe('listResources and readVersion', () => {
  it('list a type, also one of which there is nothing', async () => {
    const talos = client();
    expect(await talos.listResources(target, 'k8s', nodeIps)).toHaveLength(1);
    expect(await talos.listResources(target, 'k8s', 'Others.kubernetes.talos.dev')).toStrictEqual(
      [],
    );
  });

  it('tell the version', async () => {
    expect(await client().readVersion(target)).toStrictEqual({ tag: 'v1.14.1', platform: 'fake' });
  });
});

describe('watchResource', () => {
  const signal = new AbortController().signal;

  it('asks for one id with version 1 of the protocol', async () => {
    await take(client().watchResource(target, 'k8s', nodeIps, 'kubelet', signal), 1);
    const { bytes } = node.calls[0] ?? { bytes: new Uint8Array() };
    expect(watchCall.decodeRequest(Buffer.from(bytes))).toMatchObject({
      id: 'kubelet',
      apiVersion: 1,
    });
  });

  it('tells creation, change and end, and leaves out what is no event of a resource', async () => {
    node.override = () =>
      responses(
        [{ resource: nodeIp, eventType: 'CREATED' }],
        [
          { resource: nodeIp, eventType: 'NOOP' },
          { resource: nodeIp, eventType: 'UPDATED' },
        ],
        [{ resource: null, eventType: 'BOOTSTRAPPED' }],
        [{ resource: nodeIp, eventType: 'DESTROYED' }],
      );
    const events = client().watchResource(target, 'k8s', nodeIps, undefined, signal);
    expect(await take(events, 4)).toStrictEqual([
      'created',
      'updated',
      'bootstrapped',
      'destroyed',
    ]);
  });

  it.each<[string, () => ReturnType<typeof responses> | { code: number; details: string }]>([
    [
      'reports an overrun',
      () => responses([{ resource: null, eventType: 'ERRORED', error: 'overrun' }]),
    ],
    ['ends the stream', () => responses()],
    ['is out of resources', () => ({ code: status.RESOURCE_EXHAUSTED, details: 'too many pings' })],
  ])('opens the watch anew, and says so, where the server %s', async (_, first) => {
    node.override = () => {
      node.override = undefined;
      return first();
    };
    const events = client().watchResource(target, 'k8s', nodeIps, 'kubelet', signal);
    expect(await take(events, 2)).toStrictEqual(['reopened', 'created']);
    expect(node.calls).toHaveLength(2);
  });

  it('ends with the error of the server', async () => {
    node.override = () => ({ code: status.PERMISSION_DENIED, details: 'not authorized' });
    const events = client().watchResource(target, 'k8s', nodeIps, 'kubelet', signal);
    await expect(take(events, 1)).rejects.toMatchObject({ name: 'TalosError', code: 'denied' });
  });

  it('ends where an event is about another resource', async () => {
    node.override = () => responses([{ resource: nodeIp, eventType: 'CREATED' }]);
    const events = client().watchResource(target, 'k8s', nodeIps, 'other', signal);
    await expect(take(events, 1)).rejects.toMatchObject({ code: 'protocol' });
  });

  it('ends with deadline where the server never confirms the watch, and outlasts it otherwise', async () => {
    node.override = () => 'silence';
    const silent = client(500).watchResource(target, 'k8s', nodeIps, 'kubelet', signal);
    await expect(take(silent, 1)).rejects.toMatchObject({ code: 'deadline' });

    node.override = undefined;
    const stop = new AbortController();
    const kinds: string[] = [];
    // Longer than the deadline of the client, so that a watch bound by it would fail.
    setTimeout(() => stop.abort(), 1800);
    for await (const event of client(1500).watchResource(
      target,
      'k8s',
      nodeIps,
      'kubelet',
      stop.signal,
    )) {
      kinds.push(event.kind);
    }
    expect(kinds).toStrictEqual(['created']);
  });

  it('ends without an error when it is no longer wanted', async () => {
    const stop = new AbortController();
    const events = client().watchResource(target, 'k8s', nodeIps, 'kubelet', stop.signal);
    const kinds: string[] = [];
    for await (const event of events) {
      kinds.push(event.kind);
      stop.abort();
    }
    expect(kinds).toStrictEqual(['created']);
  });
});
