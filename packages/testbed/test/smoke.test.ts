import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  buildPart,
  createServingRequest,
  eventually,
  notYet,
  startTestbed,
  type Testbed,
} from '../src/index.ts';

const address = '10.5.0.21';
const nodeUser = (name: string) => ({ user: `system:node:${name}`, groups: ['system:nodes'] });
const servingRequest = (name: string): string =>
  createServingRequest(
    { commonName: `system:node:${name}`, organizations: ['system:nodes'] },
    { dnsNames: [name], ipAddresses: [address] },
  ).request;

let testbed: Testbed;

beforeAll(async () => {
  testbed = await startTestbed();
});

afterAll(async () => {
  await testbed?.close();
});

describe('the API server', () => {
  it('stamps a request with the user and groups of the client certificate', async () => {
    const who = testbed.clientCertificate(nodeUser('worker-1'));
    const created = await testbed.createCsr(who, { request: servingRequest('worker-1') });

    expect(created.status).toBe(201);
    expect(created.body.spec.username).toBe('system:node:worker-1');
    expect(created.body.spec.groups).toEqual(['system:nodes', 'system:authenticated']);
  });

  it('keeps blanks and non-ASCII letters of a user name', async () => {
    const who = testbed.clientCertificate({ user: ' wörker 1 ', groups: ['some group '] });
    const asked = await testbed.requestAs(
      who,
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      {
        method: 'POST',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      },
    );

    expect(asked.body.status.userInfo).toMatchObject({
      username: ' wörker 1 ',
      groups: ['some group ', 'system:authenticated'],
    });
  });

  it('refuses a node that asks in the name of another one', async () => {
    const who = testbed.clientCertificate(nodeUser('worker-1'));
    const foreign = await testbed.createCsr(who, { request: servingRequest('worker-2') });

    expect(foreign.status).toBe(403);
    expect(foreign.body.message).toContain(
      'can only create a node CSR with CN=system:node:worker-1',
    );
  });
});

describe('a service account', () => {
  it('is who a program in a pod is, with nothing but its directory and variables', async () => {
    const account = { namespace: 'ichor-test', name: 'prober' };
    await testbed.apply({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: account.namespace } },
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account },
      ],
    });
    const inCluster = await testbed.inCluster(account);
    const kubectl = await buildPart('kubectl');
    const { command, args } = inCluster.wrap(kubectl, ['auth', 'whoami', '-o', 'json']);
    const { stdout } = await promisify(execFile)(command, args, {
      env: { PATH: process.env['PATH'], HOME: testbed.directory, ...inCluster.env },
    });

    expect(JSON.parse(stdout).status.userInfo.username).toBe(
      'system:serviceaccount:ichor-test:prober',
    );
  });
});

describe('the controller manager', () => {
  it('signs what an administrator approves with kubectl, and nothing before', async () => {
    const who = testbed.clientCertificate(nodeUser('worker-3'));
    const { body } = await testbed.createCsr(who, { request: servingRequest('worker-3') });
    const { name } = body.metadata;
    const before = await testbed.admin.send(testbed.csrPath(name));
    expect(before.body.status).toEqual({});

    const approved = await testbed.kubectl(['certificate', 'approve', name]);
    expect(approved).toMatchObject({ code: 0, stderr: '' });
    const certificate = await eventually(`${name} is signed`, async () => {
      const read = await testbed.admin.send(testbed.csrPath(name));
      return read.body.status.certificate as string | undefined;
    });
    expect(Buffer.from(certificate, 'base64').toString()).toContain('BEGIN CERTIFICATE');
  });
});

describe('a real kubelet', () => {
  it('goes from a bootstrap token to Ready and serves what was approved', async () => {
    const kubelet = await testbed.startKubelet({
      nodeName: 'worker-4',
      address,
      bootstrapToken: await testbed.createBootstrapToken(),
    });
    await kubelet.nodeReady();

    const name = await eventually('the kubelet asks for a serving certificate', async () => {
      const { body } = await testbed.admin.send(
        `${testbed.csrPath()}?fieldSelector=spec.signerName%3Dkubernetes.io/kubelet-serving`,
      );
      const asked = body.items.find(
        (item: { spec: { username: string } }) => item.spec.username === 'system:node:worker-4',
      );
      return asked?.metadata.name as string | undefined;
    });
    expect(await kubelet.handshake()).toMatchObject({
      kind: 'failed',
      code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
    });

    await testbed.kubectl(['certificate', 'approve', name]);
    const served = await eventually('the kubelet serves its certificate', async () => {
      const shaken = await kubelet.handshake();
      return shaken.kind === 'served' ? shaken.certificate : notYet(shaken.message);
    });
    expect(served.checkIP(address)).toBe(address);
    expect(served.checkHost('worker-4')).toBe('worker-4');

    const verifying = await testbed.startApiserver({ address: '10.5.0.2', verifyKubelets: true });
    const asAdmin = testbed.requester(
      testbed.clientCertificate({ user: 'admin', groups: ['system:masters'] }),
      verifying.url,
    );
    const config = await asAdmin.send('/api/v1/nodes/worker-4/proxy/configz');
    expect(config.status).toBe(200);
    expect(config.body.kubeletconfig.serverTLSBootstrap).toBe(true);
  });
});
