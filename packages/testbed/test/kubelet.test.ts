import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createCluster,
  eventually,
  installOperator,
  type Kubelet,
  notYet,
  type OperatorProcess,
  operatorNamespace,
  startOperator,
  startTestbed,
  type Testbed,
} from '../src/index.ts';

const controlPlane = '10.5.0.2';
const worker1 = { ipv4: '10.5.0.21', ipv6: 'fd00:5::21' };
// Its machine has one address, its kubelet another one that its Talos node does not know.
const worker2 = { machine: '10.5.0.22', kubelet: '10.5.0.32' };

let testbed: Testbed;
let operator: OperatorProcess;
let honest: Kubelet;
let astray: Kubelet;

beforeAll(async () => {
  testbed = await startTestbed({
    addresses: [worker2.kubelet],
    apiserver: { verifyKubelets: true },
    talosNodes: [
      {
        name: 'cp-1',
        address: controlPlane,
        machineType: 'controlplane',
        nodeIPs: [controlPlane],
        nodename: 'cp-1',
        hostname: 'cp-1',
        excludeSubnets: ['10.244.0.0/16', '10.96.0.0/12', '10.5.0.100'],
      },
      {
        name: 'worker-1',
        address: worker1.ipv4,
        machineType: 'worker',
        nodeIPs: [worker1.ipv4, worker1.ipv6],
        nodename: 'worker-1',
        hostname: 'worker-1',
      },
      {
        name: 'worker-2',
        address: worker2.machine,
        machineType: 'worker',
        nodeIPs: [worker2.machine],
        nodename: 'worker-2',
        hostname: 'worker-2',
      },
    ],
  });
  await installOperator(testbed);
  await createCluster(testbed, [
    { name: 'cp-1', address: controlPlane, machineType: 'controlplane' },
    { name: 'worker-1', address: worker1.ipv4 },
    { name: 'worker-2', address: worker2.machine },
  ]);
  const bootstrapToken = await testbed.createBootstrapToken();
  [honest, astray] = await Promise.all([
    testbed.startKubelet({
      nodeName: 'worker-1',
      address: worker1.ipv4,
      moreAddresses: [worker1.ipv6],
      bootstrapToken,
    }),
    testbed.startKubelet({ nodeName: 'worker-2', address: worker2.kubelet, bootstrapToken }),
  ]);
});

afterAll(async () => {
  await testbed?.close();
});

describe('a real kubelet with a bootstrap token', () => {
  it('serves nobody before its request is approved', async () => {
    const requests = await Promise.all([newestRequest('worker-1'), newestRequest('worker-2')]);
    await Promise.all([honest.nodeReady(), astray.nodeReady()]);

    expect(requests.map(({ status }) => status)).toEqual([{}, {}]);
    for (const { nodeName } of [honest, astray]) {
      expect(await callThroughApiserver(nodeName)).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('remote error: tls: internal error'),
      });
    }
    expect(await honest.handshake()).toMatchObject({
      kind: 'failed',
      code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
    });
  });

  it('is approved for all its addresses, and served to an API server that verifies it', async () => {
    operator = await startOperator(testbed);
    const { metadata } = await newestRequest('worker-1');
    expect(await operator.decisionOn(metadata.uid)).toMatchObject({
      kind: 'approve',
      user: 'system:node:worker-1',
    });
    const [condition] = (await newestRequest('worker-1')).status.conditions;
    expect(condition).toMatchObject({ type: 'Approved', reason: 'IchorKubeletServing' });
    for (const part of ['worker-1', worker1.ipv4, worker1.ipv6]) {
      expect(condition.message).toContain(part);
    }

    const called = await eventually('the API server reaches the kubelet', async () => {
      const answer = await callThroughApiserver('worker-1');
      return answer.code === 0 ? answer : notYet(answer.stderr);
    });
    expect(JSON.parse(called.stdout).kubeletconfig.serverTLSBootstrap).toBe(true);
  });

  it('shows the certificate that its TalosMachine has on record', async () => {
    const { metadata } = await newestRequest('worker-1');
    const record = await eventually('the certificate is recorded', async () => {
      const { kubeletServingCertificate } = await statusOf('worker-1');
      return kubeletServingCertificate ?? notYet('no record');
    });
    const shown = await served(honest);

    expect(record).toMatchObject({
      request: metadata.name,
      dnsNames: ['worker-1'],
      adopted: false,
    });
    expect([...record.ipAddresses].sort()).toEqual([worker1.ipv4, worker1.ipv6]);
    expect(shown.fingerprint256.replaceAll(':', '').toLowerCase()).toBe(record.fingerprint);
    expect(shown.checkIP(worker1.ipv4)).toBe(worker1.ipv4);
    expect(shown.checkIP(worker1.ipv6)).toBeDefined();
  });
});

describe('a real kubelet whose address its Talos node does not hold', () => {
  it('is denied, gets nothing and stays unreachable', async () => {
    const { metadata } = await newestRequest('worker-2');
    expect(await operator.decisionOn(metadata.uid)).toMatchObject({
      kind: 'deny',
      reasons: ['IpAddressNotOfNode'],
    });
    const { body: request } = await testbed.admin.send(testbed.csrPath(metadata.name));
    expect(request.status.conditions).toMatchObject([
      {
        type: 'Denied',
        reason: 'IpAddressNotOfNode',
        message: expect.stringContaining(worker2.kubelet),
      },
    ]);
    expect(request.status.certificate).toBeUndefined();
    expect(await statusOf('worker-2')).not.toHaveProperty('kubeletServingCertificate');
    expect((await callThroughApiserver('worker-2')).stderr).toContain(
      'remote error: tls: internal error',
    );
  });

  it('is refused by the API server when it signs for itself instead', async () => {
    await astray.restart({ serverTLSBootstrap: false });
    const shown = await eventually('the kubelet serves a certificate', () => served(astray));
    expect(shown.subject).not.toContain('system:node:');
    expect(await callThroughApiserver('worker-2')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('tls: failed to verify certificate: x509:'),
    });
  });

  it('is approved and verified once its Talos node holds it', async () => {
    await testbed.talos.patch('worker-2', { nodeIPs: [worker2.machine, worker2.kubelet] });
    await Promise.all([
      operator.restart(),
      astray.restart({ serverTLSBootstrap: true, dropServingCertificate: true }),
    ]);
    await eventually('the API server reaches the kubelet', async () => {
      const answer = await callThroughApiserver('worker-2');
      return answer.code === 0 || notYet(answer.stderr);
    });
    const record = await eventually('the certificate is recorded', async () => {
      const { kubeletServingCertificate } = await statusOf('worker-2');
      return kubeletServingCertificate ?? notYet('no record');
    });
    expect(record.ipAddresses).toEqual([worker2.kubelet]);
    expect((await served(astray)).fingerprint256.replaceAll(':', '').toLowerCase()).toBe(
      record.fingerprint,
    );
  });
});

const callThroughApiserver = (node: string) =>
  testbed.kubectl(['get', '--raw', `/api/v1/nodes/${node}/proxy/configz`]);

/** The newest serving request of a node, once there is one. */
function newestRequest(node: string) {
  const selector = 'fieldSelector=spec.signerName%3Dkubernetes.io/kubelet-serving';
  return eventually(`the kubelet of ${node} asks for a serving certificate`, async () => {
    const { body } = await testbed.admin.send(`${testbed.csrPath()}?${selector}`);
    const own = body.items
      .filter((item: { spec: { username: string } }) => {
        return item.spec.username === `system:node:${node}`;
      })
      .sort(byCreation);
    return own.at(-1) ?? notYet(`${body.items.length} requests of others`);
  });
}

function byCreation(
  a: { metadata: { creationTimestamp: string } },
  b: { metadata: { creationTimestamp: string } },
): number {
  return a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1;
}

async function statusOf(machine: string) {
  const path = `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}/talosmachines/${machine}`;
  const { body } = await testbed.admin.send(path);
  return body.status ?? {};
}

async function served(kubelet: Kubelet) {
  const shaken = await kubelet.handshake();
  if (shaken.kind === 'failed')
    throw new Error(`${kubelet.nodeName} shows none: ${shaken.message}`);
  return shaken.certificate;
}
