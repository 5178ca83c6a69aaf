import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api } from '@kubernetes/client-node';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  connectInCluster,
  connectWithKubeconfig,
  connectWithKubeconfigFile,
  type KubeConnection,
} from './connection.ts';
import { json, kubeconfigText, ScriptedApiServer } from './testing/loopback/scripted-api-server.ts';
import { type TestCertificate, testCertificate } from './testing/loopback/test-certificate.ts';

const read = { method: 'GET', path: '/version', what: 'Reading the version' } as const;
const base64 = (text: string) => Buffer.from(text).toString('base64');

let identity: TestCertificate;
let stranger: TestCertificate;
let server: ScriptedApiServer;
let directory: string;
const open: KubeConnection[] = [];

beforeAll(async () => {
  [identity, stranger] = await Promise.all([testCertificate('server'), testCertificate('other')]);
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'connection-'));
  server = await ScriptedApiServer.start({
    cert: identity.certificate,
    key: identity.key,
    ca: stranger.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.others = [json({ gitVersion: 'v1' })];
});

afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  await server.stop();
  await rm(directory, { recursive: true });
});

function keep(connection: KubeConnection): KubeConnection {
  open.push(connection);
  return connection;
}

const fromSecret = (cluster: Record<string, unknown>, user?: Record<string, unknown>) =>
  keep(
    connectWithKubeconfig(
      { text: kubeconfigText(cluster, user), source: 'Secret a/b', trusted: false },
      { attempts: 1 },
    ),
  );

describe('TLS', () => {
  it('accepts a server whose certificate chains to the one of the kubeconfig', async () => {
    const authority = base64(identity.certificate);
    const connection = fromSecret({
      server: server.url,
      'certificate-authority-data': authority,
    });
    expect(connection).toMatchObject({ server: server.url, namespace: 'ichor', warnings: [] });
    expect((await connection.request(read)).status).toBe(200);
  });

  it('refuses any other server and says which certificate to look at', async () => {
    const authority = base64(stranger.certificate);
    const connection = fromSecret({ server: server.url, 'certificate-authority-data': authority });
    await expect(connection.request(read)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^Reading the version failed: the certificate of https:.* is not accepted \(.*\); check the certificate authority/,
      ),
    });
    expect(server.requests).toEqual([]);
  });

  it('refuses it also where the environment would switch the check off', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const authority = base64(stranger.certificate);
    const connection = fromSecret({ server: server.url, 'certificate-authority-data': authority });
    await expect(connection.request(read)).rejects.toThrow('is not accepted');
    warn.mockRestore();
    vi.unstubAllEnvs();
  });

  it('refuses a server of another name than tls-server-name', async () => {
    const connection = fromSecret({
      server: server.url,
      'certificate-authority-data': base64(identity.certificate),
      'tls-server-name': 'kubernetes.example',
    });
    await expect(connection.request(read)).rejects.toThrow('is not accepted');
  });

  it('shows the client certificate, and keeps connections apart by it', async () => {
    const cluster = {
      server: server.url,
      'certificate-authority-data': base64(identity.certificate),
    };
    const user = {
      'client-certificate-data': base64(stranger.certificate),
      'client-key-data': base64(stranger.key),
    };
    const connection = fromSecret(cluster, user);
    await connection.request(read);
    await connection.request(read);
    expect(server.connections).toBe(1);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(server.clientCertificates).toEqual(['other']);
  });
});

describe('a kubeconfig file', () => {
  it('may name files, relative to itself, and they are read again', async () => {
    await writeFile(join(directory, 'ca.crt'), identity.certificate);
    await writeFile(join(directory, 'token'), 'first\n');
    const path = join(directory, 'kubeconfig');
    const cluster = { server: server.url, 'certificate-authority': 'ca.crt' };
    await writeFile(path, kubeconfigText(cluster, { tokenFile: 'token' }));
    const connection = keep(connectWithKubeconfigFile(path));
    await connection.request(read);
    await writeFile(join(directory, 'token'), 'second\n');
    await connection.request(read);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      'Bearer second',
    ]);
  });

  it('may run a program for its credentials', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', 'console.log(JSON.stringify({ status: { token: "from a program" } }))'],
    };
    const path = join(directory, 'kubeconfig');
    const cluster = {
      server: server.url,
      'certificate-authority-data': base64(identity.certificate),
    };
    await writeFile(path, kubeconfigText(cluster, { exec }));
    await keep(connectWithKubeconfigFile(path)).request(read);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer from a program');
  });

  it('whose program does not come back costs a request, not the connection', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', 'process.stdin.resume(); setTimeout(() => undefined, 2000)'],
    };
    const path = join(directory, 'kubeconfig');
    await writeFile(path, kubeconfigText({ server: server.url }, { exec }));
    const connection = keep(connectWithKubeconfigFile(path, { requestTimeoutMs: 50, attempts: 1 }));
    await expect(connection.request(read)).rejects.toThrow('no answer within 0.05 s');
    const stream = connection.stream('/things', 'Watching', new AbortController().signal);
    await expect(stream).rejects.toThrow('no answer within 0.05 s');
    expect(server.requests).toEqual([]);
  });

  it('that does not exist is named', () => {
    expect(() => connectWithKubeconfigFile(join(directory, 'nothing'))).toThrow(
      `The kubeconfig ${join(directory, 'nothing')} cannot be read (ENOENT); give the path of a kubeconfig.`,
    );
  });
});

describe('in a pod', () => {
  const env = () => {
    const { hostname, port } = new URL(server.url);
    return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  };

  it('uses the token, which is read again, and the certificate authority', async () => {
    await writeFile(join(directory, 'ca.crt'), identity.certificate);
    await writeFile(join(directory, 'token'), 'first');
    await writeFile(join(directory, 'namespace'), 'ichor-system');
    const connection = keep(connectInCluster({ env: env(), directory }));
    expect(connection).toMatchObject({ server: server.url, namespace: 'ichor-system' });
    await connection.request(read);
    await writeFile(join(directory, 'token'), 'second');
    await connection.request(read);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      'Bearer second',
    ]);
    expect(server.connections).toBe(1);
  });

  it('writes an IPv6 address into the URL as it must be', async () => {
    await writeFile(join(directory, 'ca.crt'), identity.certificate);
    await writeFile(join(directory, 'token'), 'first');
    const host = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    expect(connectInCluster({ env: host, directory }).server).toBe('https://[fd00::1]:443');
  });

  it.each([
    ['the host', { KUBERNETES_SERVICE_PORT: '443' }, /KUBERNETES_SERVICE_HOST is not set/],
    ['the port', { KUBERNETES_SERVICE_HOST: '10.96.0.1' }, /KUBERNETES_SERVICE_PORT is not set/],
    [
      'the token',
      { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' },
      /The file .*token cannot be read \(ENOENT\)/,
    ],
  ])('says that %s is missing and what to do', (_name, given, sentence) => {
    const connecting = () => connectInCluster({ env: given, directory });
    expect(connecting).toThrow(sentence);
    expect(connecting).toThrow(/; run in a pod with a ServiceAccount, or give a kubeconfig\.$/);
  });
});

describe("client-node's typed API", () => {
  it('goes over the same pool, behind the path of the server', async () => {
    server.others = [json({ kind: 'Namespace', metadata: { name: 'kube-system', uid: 'u' } })];
    const connection = fromSecret({
      server: `${server.url}/clusters/lab/`,
      'certificate-authority-data': base64(identity.certificate),
    });
    const api = connection.api(CoreV1Api);
    const namespace = await api.readNamespace({ name: 'kube-system' });
    await api.readNamespace({ name: 'kube-system' });
    await connection.request(read);
    expect(namespace.metadata?.uid).toBe('u');
    expect(server.requests.map(({ url }) => url.pathname)).toEqual([
      '/clusters/lab/api/v1/namespaces/kube-system',
      '/clusters/lab/api/v1/namespaces/kube-system',
      '/clusters/lab/version',
    ]);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer secret-token');
    expect(server.connections).toBe(1);
  });
});
