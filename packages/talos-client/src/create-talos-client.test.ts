import { status } from '@grpc/grpc-js';
import { fixedAccess } from './access-source.ts';
import { createTalosClient } from './create-talos-client.ts';
import { fakeClusterCertificates } from './testing/fake-cluster.ts';
import {
  type FakeTalosNode,
  type Override,
  startFakeTalosNode,
} from './testing/fake-talos-node.ts';
import type { NodeFault } from './testing/in-memory-talos.ts';
import { nodeResources } from './testing/node-resources.ts';
import { describeTalosClient } from './testing/talos-client.suite.ts';

const cluster = fakeClusterCertificates();
const stranger = fakeClusterCertificates();

const overrides: Partial<Record<NodeFault, Override>> = {
  frozen: () => 'silence',
  denied: () => ({ code: status.PERMISSION_DENIED, details: 'not authorized' }),
  notFound: ({ path }) =>
    path.endsWith('/Get') ? { code: status.NOT_FOUND, details: "doesn't exist" } : undefined,
  protocol: () => [Buffer.from([0xff, 0xff, 0xff])],
};

describeTalosClient('createTalosClient', async (node) => {
  const start = (certificates: typeof cluster, port: number): Promise<FakeTalosNode> =>
    startFakeTalosNode({
      clientCa: cluster.authority.crt,
      certificate: certificates.serverCertificate('127.0.0.1'),
      resources,
      port,
    });
  let resources = nodeResources(node);
  let server: FakeTalosNode | undefined = await start(cluster, 0);
  const { port } = server;
  const client = createTalosClient({
    access: fixedAccess(cluster.access()),
    port,
    deadlineMs: 1500,
  });
  const replace = async (certificates: typeof cluster | undefined) => {
    await server?.stop();
    server = certificates === undefined ? undefined : await start(certificates, port);
  };
  return {
    client,
    address: '127.0.0.1',
    setNode: async (next) => {
      resources = nodeResources(next);
      if (server !== undefined) {
        server.resources = resources;
      }
    },
    setFault: async (fault) => {
      if (fault === 'unreachable' || fault === 'untrusted') {
        await replace(fault === 'untrusted' ? stranger : undefined);
      } else if (server === undefined || fault === undefined) {
        await replace(cluster);
      } else {
        server.override = overrides[fault];
      }
    },
    stop: async () => {
      client.close();
      await server?.stop();
    },
  };
});
