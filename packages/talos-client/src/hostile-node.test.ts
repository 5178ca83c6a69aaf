import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixedAccess } from './access-source.ts';
import { createTalosClient } from './create-talos-client.ts';
import { fakeClusterCertificates } from './testing/fake-cluster.ts';
import {
  type FakeTalosNode,
  type Override,
  startFakeTalosNode,
} from './testing/fake-talos-node.ts';
import { nodeResources, wireResource } from './testing/node-resources.ts';
import { Started } from './testing/started.ts';
import { getCall, listCall, specs, type WireResource } from './wire.ts';

const cluster = fakeClusterCertificates();
const target = { address: '127.0.0.1', controlPlane: true };
const good = nodeResources({
  nodeName: 'worker-1',
  nodeIps: ['10.5.0.11'],
  excludeSubnets: ['10.244.0.0/16'],
  platformNames: ['w1.cloud'],
});
const addressStatuses = { namespace: 'network', type: 'AddressStatuses.net.talos.dev' };

const started = new Started();
afterEach(() => started.stopAll());

let node: FakeTalosNode;
beforeEach(async () => {
  node = started.with(
    await startFakeTalosNode({
      clientCa: cluster.authority.crt,
      certificate: cluster.serverCertificate('127.0.0.1'),
      resources: good,
    }),
  );
});

function client(deadlineMs = 5000) {
  const access = fixedAccess(cluster.access());
  return started.closing(createTalosClient({ access, port: node.port, deadlineMs }));
}

/** Lets the node answer Get of one type with another resource than its own. */
function answering(type: string, resource: WireResource | null): Override {
  return ({ path, bytes }) =>
    path === getCall.path && getCall.decodeRequest(Buffer.from(bytes)).type.startsWith(type)
      ? [getCall.encodeResponse({ resource })]
      : undefined;
}

const nodename = (namespace: string, type: string, id: string, phase = 'running') =>
  wireResource(namespace, type, id, specs.nodename.encode({ nodename: 'victim' }), phase);

describe('a node that answers', () => {
  const nodenames = 'Nodenames.kubernetes.talos.dev';

  it.each<[string, WireResource | null]>([
    ['with no resource', null],
    ['with another id', nodename('k8s', nodenames, 'other')],
    ['with another type', nodename('k8s', 'NodeIPs.kubernetes.talos.dev', 'nodename')],
    ['with another namespace', nodename('network', nodenames, 'nodename')],
    ['with a phase that does not exist', nodename('k8s', nodenames, 'nodename', 'gone')],
    ['without metadata', { metadata: null, spec: null }],
  ])('%s breaks the protocol', async (_, resource) => {
    node.override = answering('Nodenames', resource);
    await expect(client().readNodeFacts(target)).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('Nodenames.kubernetes.talos.dev k8s/nodename'),
    });
  });

  it('with what was asked for is believed', async () => {
    node.override = answering('Nodenames', nodename('k8s', nodenames, 'nodename'));
    expect((await client().readNodeFacts(target)).nodeName).toBe('victim');
  });

  it.each([['Nodenames'], ['NodeIPs'], ['HostnameStatuses'], ['NodeIPConfigs']])(
    'with %s being torn down does not have it',
    async (type) => {
      node.resources = good.map((resource) =>
        resource.metadata?.type.startsWith(`${type}.`) === true
          ? { ...resource, metadata: { ...resource.metadata, phase: 'tearingDown' } }
          : resource,
      );
      await expect(client().readNodeFacts(target)).rejects.toMatchObject({
        code: 'notFound',
        message: expect.stringMatching(`${type}.*is being torn down`),
      });
    },
  );

  it('with cloud data being torn down has none', async () => {
    node.resources = good.map((resource) =>
      resource.metadata?.type === 'PlatformMetadatas.talos.dev'
        ? { ...resource, metadata: { ...resource.metadata, phase: 'tearingDown' } }
        : resource,
    );
    expect((await client().readNodeFacts(target)).platformNames).toStrictEqual([]);
    node.resources = good;
    expect((await client().readNodeFacts(target)).platformNames).toStrictEqual(['w1.cloud']);
  });

  it('with a list of another type breaks the protocol', async () => {
    const other = nodename('k8s', nodenames, 'nodename');
    node.override = ({ path }) =>
      path === listCall.path ? [listCall.encodeResponse({ resource: other })] : undefined;
    await expect(client().readNodeFacts(target)).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('another resource'),
    });
  });

  it('with a message larger than any fact breaks the protocol', async () => {
    const large = (bytes: number) =>
      answering(
        'Nodenames',
        wireResource(
          'k8s',
          nodenames,
          'nodename',
          Buffer.alloc(bytes, specs.nodename.encode({ nodename: 'a' })),
        ),
      );
    node.override = large(300_000);
    await expect(client().readNodeFacts(target)).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('RESOURCE_EXHAUSTED'),
    });
    node.override = large(3);
    expect((await client().readNodeFacts(target)).nodeName).toBe('a');
  });

  it('with a list that never ends is cut off', async () => {
    node.override = ({ path, bytes }) =>
      path === listCall.path ? 'endless' : answerOf(good, path, bytes);
    const { namespace, type } = addressStatuses;
    const [{ metadata }] = [wireResource(namespace, type, 'eth0/x', new Uint8Array())];
    node.resources = [
      { metadata, spec: { protoSpec: new Uint8Array(), yamlSpec: 'x'.repeat(200_000) } },
    ];
    await expect(client(20_000).readNodeFacts(target)).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('more entries than any node can have'),
    });
  });

  it('with a list that stalls ends at the deadline', async () => {
    node.override = ({ path }) => (path === listCall.path ? 'silence' : undefined);
    await expect(client(500).readNodeFacts(target)).rejects.toMatchObject({ code: 'deadline' });
  });

  it('with words that would break a line of a log is quoted', async () => {
    const details = `no\nlevel=error msg="\u001b[31mgone"${'x'.repeat(500)}`;
    node.override = () => ({ code: status.INTERNAL, details });
    const error = await client()
      .readNodeFacts(target)
      .catch((reason: Error) => reason);
    expect(error).toMatchObject({ code: 'protocol' });
    const message = (error as Error).message;
    expect(message).toMatch(/^[\x20-\x7e]*$/);
    expect(message.length).toBeLessThan(400);
  });
});

function answerOf(resources: readonly WireResource[], path: string, bytes: Uint8Array) {
  const query = getCall.decodeRequest(Buffer.from(bytes));
  const resource = resources.find(
    ({ metadata }) => metadata?.type === query.type && metadata.id === query.id,
  );
  return path === getCall.path
    ? [getCall.encodeResponse({ resource: resource ?? null })]
    : undefined;
}

describe('one failing read', () => {
  const codes: [number, string][] = [
    [status.PERMISSION_DENIED, 'denied'],
    [status.UNAUTHENTICATED, 'unauthenticated'],
    [status.INTERNAL, 'protocol'],
    [status.UNIMPLEMENTED, 'protocol'],
    [status.INVALID_ARGUMENT, 'protocol'],
    [status.UNKNOWN, 'protocol'],
    [status.UNAVAILABLE, 'unreachable'],
    [status.DEADLINE_EXCEEDED, 'deadline'],
  ];
  it.each(codes)('of the cloud data with status %i fails all with %s', async (code, expected) => {
    node.override = ({ path, bytes }) =>
      path === getCall.path &&
      getCall.decodeRequest(Buffer.from(bytes)).type === 'PlatformMetadatas.talos.dev'
        ? { code, details: 'no' }
        : undefined;
    await expect(client().readNodeFacts(target)).rejects.toMatchObject({ code: expected });
  });

  it('of the external addresses fails all, also with not found', async () => {
    node.override = ({ path }) =>
      path === listCall.path ? { code: status.NOT_FOUND, details: 'no' } : undefined;
    await expect(client().readNodeFacts(target)).rejects.toMatchObject({ code: 'notFound' });
  });
});
