import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fixedAccess } from './access-source.ts';
import { createTalosClient, type TalosClientOptions } from './create-talos-client.ts';
import { TalosError } from './talos-error.ts';
import { fakeClusterCertificates } from './testing/fake-cluster.ts';
import {
  type FakeTalosNode,
  type FakeTalosNodeOptions,
  startFakeTalosNode,
} from './testing/fake-talos-node.ts';
import { nodeResources } from './testing/node-resources.ts';
import { Started } from './testing/started.ts';
import { startTcpRelay, type TcpRelay } from './testing/tcp-relay.ts';

const cluster = fakeClusterCertificates();
const stranger = fakeClusterCertificates();
const target = { address: '127.0.0.1', controlPlane: false };
const workerResources = nodeResources({ nodeName: 'worker-1', nodeIps: ['10.5.0.11'] });
const forwardsTo = new Map([['127.0.0.1', workerResources]]);

const started = new Started();
afterEach(() => started.stopAll());

// The node itself: a relay in front of it, so that its absence has the shape a test wants.
let node: FakeTalosNode;
let direct: TcpRelay;
beforeEach(async () => {
  node = started.with(
    await startFakeTalosNode({
      clientCa: cluster.authority.crt,
      certificate: cluster.serverCertificate('127.0.0.1'),
      resources: workerResources,
    }),
  );
  direct = started.with(await startTcpRelay(node.port));
});

async function controlPlane(options: Partial<FakeTalosNodeOptions> = {}) {
  const fake = await startFakeTalosNode({
    clientCa: cluster.authority.crt,
    certificate: cluster.serverCertificate('127.0.0.1'),
    resources: nodeResources({ nodeName: 'cp-1', nodeIps: ['10.5.0.2'] }),
    forwardsTo,
    ...options,
  });
  return started.with(fake);
}

function client(
  endpoints: readonly (FakeTalosNode | TcpRelay)[],
  options: Partial<TalosClientOptions> = {},
) {
  const access = cluster.access(...endpoints.map(({ port }) => `127.0.0.1:${port}`));
  return started.closing(
    createTalosClient({
      access: fixedAccess(access),
      port: direct.port,
      deadlineMs: 5000,
      directConnectMs: 800,
      ...options,
    }),
  );
}

async function failure(read: Promise<unknown>): Promise<TalosError> {
  const outcome = await read.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(TalosError);
  return outcome as TalosError;
}

describe('the direct route', () => {
  it('is taken while it works, and no control plane is asked', async () => {
    const cp = await controlPlane();
    expect(await client([cp]).readNodeFacts(target)).toMatchObject({
      nodeName: 'worker-1',
      route: 'direct',
    });
    expect(node.calls.map((call) => call.node)).toStrictEqual(Array(5).fill(undefined));
    expect(cp.calls).toHaveLength(0);
  });

  it.each(['close', 'swallow'] as const)(
    'gives way to a control plane where connections %s',
    async (onConnect) => {
      direct.onConnect = onConnect;
      const cp = await controlPlane();
      expect(await client([cp]).readNodeFacts(target)).toMatchObject({
        nodeName: 'worker-1',
        route: 'forwarded',
      });
      expect(cp.calls.map((call) => [call.node, call.hasNodes])).toStrictEqual(
        Array(5).fill(['127.0.0.1', false]),
      );
    },
  );

  it('is unreachable where nothing listens, and says so with the reason', async () => {
    await direct.stop();
    const error = await failure(client([]).readNodeFacts(target));
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain(`cannot connect to 127.0.0.1:${direct.port} (ECONNREFUSED)`);
  });

  it('ends with deadline where TCP is accepted and nothing follows', async () => {
    direct.onConnect = 'swallow';
    const error = await failure(client([]).readNodeFacts(target));
    expect(error.code).toBe('deadline');
    expect(error.message).toContain('did not finish the TLS handshake');
    await vi.waitFor(() => expect(direct.open).toBe(0));
  });

  it('is not taken again through an endpoint that is the node itself', async () => {
    direct.onConnect = 'close';
    const error = await failure(client([direct]).readNodeFacts(target));
    expect(error.code).toBe('unreachable');
    expect(error.message).not.toContain('through');
    // One look at the port, one attempt.
    expect(direct.accepted).toBe(2);
  });

  it('does not give way once it is connected, whatever the node answers', async () => {
    node.override = () => ({ code: status.UNAVAILABLE, details: 'machined is not up' });
    const cp = await controlPlane();
    expect((await failure(client([cp]).readNodeFacts(target))).code).toBe('unreachable');
    expect(cp.calls).toHaveLength(0);
  });

  it('is not diverted by a proxy that the environment names', async () => {
    const proxy = started.with(await startTcpRelay(0));
    for (const name of ['grpc_proxy', 'https_proxy', 'http_proxy']) {
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    }
    try {
      expect((await client([]).readNodeFacts(target)).route).toBe('direct');
      expect(proxy.accepted).toBe(0);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('takes no address that is none', async () => {
    for (const address of ['', 'unix:///run/apid.sock', '10.5.0.11/24', 'a b']) {
      const error = await failure(client([]).readNodeFacts({ address, controlPlane: false }));
      expect(error.code).toBe('unreachable');
      expect(error.message).toContain('neither an IP address nor a host name');
    }
  });
});

describe('the route that worked', () => {
  it('is tried first the next time', async () => {
    direct.onConnect = 'close';
    const cp = await controlPlane();
    const talos = client([cp]);
    await talos.readNodeFacts(target);
    const attempts = direct.accepted;
    expect(attempts).toBeGreaterThan(0);
    expect((await talos.readNodeFacts(target)).route).toBe('forwarded');
    expect(direct.accepted).toBe(attempts);
  });

  it('gives way to the others when it fails', async () => {
    direct.onConnect = 'close';
    const cp = await controlPlane();
    const talos = client([cp]);
    await talos.readNodeFacts(target);
    await cp.stop();
    direct.onConnect = 'relay';
    expect((await talos.readNodeFacts(target)).route).toBe('direct');
  });
});

describe('control planes', () => {
  beforeEach(() => {
    direct.onConnect = 'close';
  });

  it('that are none are named when nothing else worked', async () => {
    const cp = await controlPlane();
    const access = { ...cluster.access(), endpoints: ['cp-1/50000', `127.0.0.1:${cp.port}`] };
    const talos = client([], { access: fixedAccess(access) });
    expect((await talos.readNodeFacts(target)).route).toBe('forwarded');
    await cp.stop();
    expect((await failure(talos.readNodeFacts(target))).message).toContain(
      'endpoint "cp-1/50000" is neither host nor host:port',
    );
  });

  it('are tried one after another until one connects', async () => {
    const dead = await controlPlane();
    await dead.stop();
    const cp = await controlPlane();
    expect((await client([dead, cp]).readNodeFacts(target)).route).toBe('forwarded');
  });

  it('share what is left of the deadline, so that silent ones leave time for a good one', async () => {
    const silent = await Promise.all([1, 2].map(() => startTcpRelay(0)));
    for (const relay of silent) {
      started.with(relay);
    }
    const cp = await controlPlane();
    const talos = client([...silent, cp], { deadlineMs: 3000, directConnectMs: 2900 });
    expect((await talos.readNodeFacts(target)).route).toBe('forwarded');
  });

  it('are asked in turn where one cannot reach the node', async () => {
    const cutOff = await controlPlane();
    const details = 'connection error: desc = "transport: Error while dialing: no route to host"';
    cutOff.override = () => ({ code: status.UNAVAILABLE, details });
    const cp = await controlPlane();
    expect((await client([cutOff, cp]).readNodeFacts(target)).route).toBe('forwarded');
    expect(cutOff.calls.length).toBeGreaterThan(0);

    cp.override = cutOff.override;
    const error = await failure(client([cutOff, cp]).readNodeFacts(target));
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain(`through 127.0.0.1:${cutOff.port}`);
    expect(error.message).toContain(`through 127.0.0.1:${cp.port}`);
    expect(error.message).toContain('no route to host');
  });

  it('one that lets us wait is asked last the next time', async () => {
    const silent = await controlPlane();
    silent.override = () => 'silence';
    const cp = await controlPlane();
    const talos = client([silent, cp], { deadlineMs: 1500 });
    expect((await failure(talos.readNodeFacts(target))).code).toBe('deadline');
    expect((await talos.readNodeFacts(target)).route).toBe('forwarded');
  });

  it('that do not forward are an error of the configuration, not of the network', async () => {
    const worker = await controlPlane({ forwardsTo: new Map() });
    const cp = await controlPlane();
    const error = await failure(client([worker, cp]).readNodeFacts(target));
    expect(error.code).toBe('denied');
    expect(error.message).toContain('no request forwarding');
    expect(cp.calls).toHaveLength(0);
  });

  it('whose certificate is refused end the read: no other is asked', async () => {
    const impostor = await controlPlane({ certificate: stranger.serverCertificate('127.0.0.1') });
    const cp = await controlPlane();
    expect((await failure(client([impostor, cp]).readNodeFacts(target))).code).toBe(
      'unauthenticated',
    );
    expect(cp.calls).toHaveLength(0);
    expect((await client([cp, impostor]).readNodeFacts(target)).route).toBe('forwarded');
  });

  it('that refuse the certificate of the node end the read: no other is asked', async () => {
    const refusing = await controlPlane();
    const details =
      'connection error: desc = "transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority"';
    refusing.override = () => ({ code: status.UNAVAILABLE, details });
    const cp = await controlPlane();
    expect((await failure(client([refusing, cp]).readNodeFacts(target))).code).toBe(
      'unauthenticated',
    );
    expect(cp.calls).toHaveLength(0);
  });
});
