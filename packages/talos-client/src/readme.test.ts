import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createTalosClient, fixedAccess, type NodeFacts, TalosError } from './index.ts';
import { fakeClusterCertificates, nodeResources, startFakeTalosNode } from './testing/index.ts';

const cluster = fakeClusterCertificates();

it('the example of the README does what it says', async () => {
  const node = await startFakeTalosNode({
    clientCa: cluster.authority.crt,
    certificate: cluster.serverCertificate('127.0.0.1'),
    resources: nodeResources({ nodeName: 'worker-1', nodeIps: ['10.5.0.11'] }),
  });
  const access = fixedAccess(cluster.access());

  // #region usage
  async function addressesOf(address: string, port = 50_000): Promise<NodeFacts['nodeIps']> {
    const talos = createTalosClient({ access, port });
    try {
      const facts = await talos.readNodeFacts({ address, controlPlane: false });
      return facts.nodeIps;
    } catch (error) {
      if (error instanceof TalosError && error.code === 'unreachable') {
        return [];
      }
      throw error;
    } finally {
      talos.close();
    }
  }
  // #endregion

  expect(await addressesOf('127.0.0.1', node.port)).toStrictEqual(['10.5.0.11']);
  await node.stop();
  expect(await addressesOf('127.0.0.1', node.port)).toStrictEqual([]);
});

it('the README shows exactly that example', () => {
  const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
  const region = /\/\/ #region usage\n(.*?)\n *\/\/ #endregion/s.exec(read('readme.test.ts'))?.[1];
  const block = /```ts\n.*?\n\n(async function.*?)\n```/s.exec(read('../README.md'))?.[1];
  expect(block).toBe(region?.replace(/^ {2}/gm, ''));
});
