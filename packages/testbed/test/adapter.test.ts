import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ConnectionSettings,
  connectInCluster,
  type Inventory,
  type KubeConnection,
  type ObjectWatch,
  openInventory,
  openSigningCluster,
  type ReceivedRequest,
  type ReflectorTiming,
  type SigningCluster,
} from '@ichor/k8s-adapter';
import { type KubernetesUnderTest, kubernetesCases } from '@ichor/k8s-adapter/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Apiserver,
  createServingRequest,
  eventually,
  type InCluster,
  installOperator,
  type KubeRequester,
  type KubeResponse,
  notYet,
  operatorNamespace,
  startTcpRelay,
  startTestbed,
  type TcpRelay,
  type Testbed,
} from '../src/index.ts';

// The Kubernetes adapter on a real API server, as the operator's own ServiceAccount: the promises that the
// in-memory Kubernetes keeps too, and what only a real server does.

const account = { namespace: operatorNamespace, name: 'ichor' };
const servingSigner = 'kubernetes.io/kubelet-serving';
const inventoryPath = `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}`;
const pem = createServingRequest(
  { commonName: 'system:node:worker-1', organizations: ['system:nodes'] },
  { dnsNames: ['worker-1'], ipAddresses: ['10.5.0.11'] },
).request;
const approval = {
  type: 'Approved',
  reason: 'IchorKubeletServing',
  message: 'worker-1 holds all names',
} as const;

let testbed: Testbed;
let pod: InCluster;
/** The kubelet of worker-1. */
let kubelet: KubeRequester;

beforeAll(async () => {
  testbed = await startTestbed();
  await installOperator(testbed);
  pod = await testbed.inCluster(account);
  kubelet = testbed.requester(
    testbed.clientCertificate({ user: 'system:node:worker-1', groups: ['system:nodes'] }),
  );
});

afterAll(async () => {
  await testbed?.close();
});

/** A connection as a pod of the operator makes it, through a relay where one is given. */
function connect(relay?: TcpRelay, settings: ConnectionSettings = {}): KubeConnection {
  const env =
    relay === undefined ? pod.env : { ...pod.env, KUBERNETES_SERVICE_PORT: `${relay.port}` };
  return connectInCluster({ env, directory: pod.directory }, settings);
}

/** Runs something against the signing cluster, which is closed afterwards. */
async function withCluster<T>(
  connection: KubeConnection,
  use: (cluster: SigningCluster) => Promise<T>,
  timing: Partial<ReflectorTiming> = {},
): Promise<T> {
  const cluster = openSigningCluster(connection, timing);
  try {
    await synced(cluster.requests);
    return await use(cluster);
  } finally {
    cluster.close();
  }
}

const synced = <T>(watch: ObjectWatch<T>) =>
  eventually('the list is complete', () => watch.synced(), { everyMs: 20 });

async function send(
  who: KubeRequester,
  path: string,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' = 'GET',
  body?: object,
): Promise<KubeResponse['body']> {
  const answer = await who.send(path, {
    method,
    ...(body === undefined ? {} : { body }),
    ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

function requestObject(name: string, signerName = servingSigner, metadata: object = {}): object {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, ...metadata },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      usages: ['digital signature', 'server auth'],
    },
  };
}

const submit = (name: string, who = kubelet) =>
  send(who, testbed.csrPath(), 'POST', requestObject(name));
const remove = (name: string) => send(testbed.admin, testbed.csrPath(name), 'DELETE');
const namesIn = (cluster: SigningCluster, prefix: string): readonly string[] =>
  cluster.requests
    .list()
    .map(({ name }) => name)
    .filter((name) => name.startsWith(prefix))
    .sort();
const seen = (
  cluster: SigningCluster,
  name: string,
  suits: (request: ReceivedRequest) => boolean = () => true,
): Promise<ReceivedRequest> =>
  eventually(
    `${name} is seen`,
    () => cluster.requests.list().find((request) => request.name === name && suits(request)),
    { everyMs: 20 },
  );

/** Submits a request after the list was taken: once it is seen, there is a watch. */
async function followed(cluster: SigningCluster, name: string): Promise<ReceivedRequest> {
  await submit(name);
  return seen(cluster, name);
}

describe('a real API server keeps what the in-memory Kubernetes promises', () => {
  let inventory: Inventory;
  let signingCluster: SigningCluster;
  let cases = 0;

  beforeAll(async () => {
    inventory = openInventory(connect(), operatorNamespace);
    signingCluster = openSigningCluster(connect());
    await Promise.all([
      synced(inventory.clusters),
      synced(inventory.machines),
      synced(signingCluster.requests),
    ]);
  });

  afterAll(() => {
    inventory?.close();
    signingCluster?.close();
  });

  const custom = (kind: 'TalosCluster' | 'TalosMachine', name: string, spec: unknown) => ({
    apiVersion: 'ichor.dev/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });

  function underTest(): KubernetesUnderTest {
    cases += 1;
    const { admin } = testbed;
    const machine = (name: string) => `${inventoryPath}/talosmachines/${name}`;
    return {
      inventory,
      signingCluster,
      prefix: `case-${cases}-`,
      async createRequest(name, signerName) {
        await send(kubelet, testbed.csrPath(), 'POST', requestObject(name, signerName));
      },
      async touchRequest(name) {
        const body = { metadata: { labels: { touched: 'yes' } } };
        await send(admin, testbed.csrPath(name), 'PATCH', body);
      },
      async deleteRequest(name) {
        await remove(name);
      },
      readRequest: (name) => send(admin, testbed.csrPath(name)),
      async createMachine(name, spec) {
        await send(admin, machine(''), 'POST', custom('TalosMachine', name, spec));
      },
      async updateMachine(name, spec) {
        await send(admin, machine(name), 'PUT', {
          ...(await send(admin, machine(name))),
          spec,
        });
      },
      async deleteMachine(name) {
        await send(admin, machine(name), 'DELETE');
      },
      readMachine: (name) => send(admin, machine(name)),
      async createCluster(name, spec) {
        const object = custom('TalosCluster', name, spec);
        await send(admin, `${inventoryPath}/talosclusters`, 'POST', object);
      },
      async createSecret(name, data) {
        await send(admin, `/api/v1/namespaces/${operatorNamespace}/secrets`, 'POST', {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name },
          stringData: data,
        });
      },
      async readEvents(name) {
        const path = `/apis/events.k8s.io/v1/namespaces/${operatorNamespace}/events`;
        const { items } = await send(admin, path);
        return (items as KubeResponse['body'][])
          .filter(({ regarding }) => regarding?.name === name)
          .map(({ reason, note, series }) => ({ reason, note, count: series?.count ?? 1 }));
      },
    };
  }

  for (const { title, run } of kubernetesCases) it(title, () => run(underTest()));
});

describe('the write of a decision', () => {
  it('keeps all that others wrote on the request', async () => {
    const name = 'whole';
    const metadata = {
      labels: { team: 'platform' },
      annotations: { 'example.com/note': 'ümlaut "quoted"\n' },
      finalizers: ['example.com/hold'],
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          name: 'kube-system',
          uid: (await send(testbed.admin, '/api/v1/namespaces/kube-system')).metadata.uid,
        },
      ],
    };
    await send(kubelet, testbed.csrPath(), 'POST', requestObject(name, servingSigner, metadata));
    // Another program's condition, of a type that nobody else knows, written by server-side apply.
    const path = `${testbed.csrPath(name)}/approval?fieldManager=reviewer`;
    const reviewed = {
      type: 'example.com/Reviewed',
      status: 'True',
      reason: 'Seen',
      message: 'seen by a person',
    };
    const { status } = await testbed.admin.send(path, {
      method: 'PATCH',
      contentType: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        status: { conditions: [reviewed] },
      },
    });
    expect(status).toBe(200);
    const before = await send(testbed.admin, testbed.csrPath(name));
    expect(before.metadata).toMatchObject(metadata);

    await withCluster(connect(), async (cluster) => {
      const request = await seen(cluster, name);
      expect(request.conditions).toMatchObject([{ type: 'example.com/Reviewed' }]);
      expect(await cluster.writeDecision(request, approval)).toBe('written');
    });
    const after = await send(testbed.admin, testbed.csrPath(name));
    const {
      resourceVersion: _,
      managedFields: managersBefore,
      ...metadataBefore
    } = before.metadata;
    const { resourceVersion: __, managedFields: managersAfter, ...metadataAfter } = after.metadata;
    expect(metadataAfter).toEqual(metadataBefore);
    expect(after.spec).toEqual(before.spec);
    expect(after.status.conditions).toEqual([
      before.status.conditions[0],
      expect.objectContaining({ ...approval, status: 'True' }),
    ]);
    expect(managersAfter).toEqual(expect.arrayContaining(managersBefore));
    const ours = managersAfter.filter(({ manager }: { manager: string }) => manager === 'ichor');
    expect(ours).toMatchObject([{ operation: 'Update', subresource: 'approval' }]);
    await send(testbed.admin, testbed.csrPath(name), 'PATCH', { metadata: { finalizers: null } });
  });
});

describe('a list of 600 requests', () => {
  const names = Array.from({ length: 600 }, (_, index) => `many-${`${index}`.padStart(3, '0')}`);

  beforeAll(async () => {
    const rest = [...names];
    const worker = async () => {
      for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
        await submit(name, testbed.admin);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  });

  it('is taken in pages, and misses nothing that happens between two of them', async () => {
    const connection = connect();
    const pages: URLSearchParams[] = [];
    const watches: URLSearchParams[] = [];
    const queryOf = (path: string) => new URL(path, connection.server).searchParams;
    const observed: KubeConnection = {
      ...connection,
      async request(request) {
        const answer = await connection.request(request);
        pages.push(queryOf(request.path));
        // The first page is taken: one that it holds goes, one of the next page goes, and one comes.
        if (pages.length === 1) {
          await Promise.all([remove('many-000'), remove('many-599'), submit('many-new')]);
        }
        return answer;
      },
      stream(path, what, signal) {
        watches.push(queryOf(path));
        return connection.stream(path, what, signal);
      },
    };
    await withCluster(observed, async (cluster) => {
      const expected = [...names.slice(1, -1), 'many-new'];
      await eventually('what happened meanwhile is seen', () => {
        const now = namesIn(cluster, 'many-');
        return JSON.stringify(now) === JSON.stringify(expected) || notYet(now.length);
      });
      expect(pages.map((page) => [page.get('limit'), page.has('continue')])).toEqual([
        ['500', false],
        ['500', true],
      ]);
      expect(watches).toHaveLength(1);
      expect(watches[0]?.get('fieldSelector')).toBe(`spec.signerName=${servingSigner}`);
    });
  });

  it('is taken in smaller pages where one would be too large', async () => {
    // About 180 of these requests.
    const connection = connect(undefined, { maxAnswerBytes: 256 * 1024 });
    let requests = 0;
    const counted: KubeConnection = {
      ...connection,
      request(request) {
        requests += 1;
        return connection.request(request);
      },
    };
    await withCluster(counted, async (cluster) => {
      expect(namesIn(cluster, 'many-')).toHaveLength(599);
      expect(requests).toBeGreaterThan(599 / 180);
    });
  });

  afterAll(async () => {
    await send(testbed.admin, testbed.csrPath(), 'DELETE');
  });
});

describe('connections', () => {
  let relay: TcpRelay;

  beforeAll(async () => {
    relay = await startTcpRelay(testbed.apiserver.port);
  });

  afterAll(() => relay?.stop());

  it('are few, and kept: six at most, and one for each watch', async () => {
    const before = relay.accepted;
    await withCluster(connect(relay), async (cluster) => {
      const uids = await Promise.all(Array.from({ length: 60 }, () => cluster.readClusterUid()));
      expect(new Set(uids).size).toBe(1);
      await followed(cluster, 'few');
      for (let call = 0; call < 10; call += 1) await cluster.readClusterUid();
      expect(relay.accepted - before).toBeLessThanOrEqual(7);
    });
    await eventually('all connections are closed', () => relay.open === 0 || notYet(relay.open));
  });

  it('that are cut are made again, and nothing is missed meanwhile', async () => {
    await withCluster(
      connect(relay),
      async (cluster) => {
        await followed(cluster, 'cut-goes');
        const failures: string[] = [];
        cluster.requests.subscribe((change) => {
          if (change.kind === 'failed') failures.push(change.message);
        });
        relay.cut();
        await Promise.all([remove('cut-goes'), submit('cut-comes')]);
        await eventually('both changes are seen', () => {
          const now = namesIn(cluster, 'cut-');
          return now.join() === 'cut-comes' || notYet(now);
        });
        expect(failures).toHaveLength(1);
        expect(failures[0]).toContain(
          `The watch of CertificateSigningRequests at ${cluster.server}`,
        );
        expect(await cluster.writeDecision(await seen(cluster, 'cut-comes'), approval)).toBe(
          'written',
        );
      },
      { firstBackOffMs: 100 },
    );
  });

  it('carry the token that stands in the file at the time of the call', async () => {
    const file = join(pod.directory, 'token');
    const replaceToken = async (token: string) => {
      await writeFile(`${file}.next`, token);
      await rename(`${file}.next`, file);
    };
    await withCluster(
      connect(relay),
      async (cluster) => {
        const uid = await cluster.readClusterUid();
        await replaceToken(`${pod.token}x`);
        await expect(cluster.readClusterUid()).rejects.toMatchObject({
          code: 'forbidden',
          status: 401,
          message: expect.stringContaining(
            'Reading the namespace kube-system failed with HTTP 401',
          ),
        });
        // The watch that is open does not notice; the next one does.
        const failures: string[] = [];
        cluster.requests.subscribe((change) => {
          if (change.kind === 'failed') failures.push(change.message);
        });
        relay.cut();
        await eventually(
          'the watch is refused',
          () => failures.some((message) => message.includes('HTTP 401')) || notYet(failures),
        );
        await replaceToken(await testbed.serviceAccountToken(account));
        expect(await cluster.readClusterUid()).toBe(uid);
        await submit('rotated');
        await seen(cluster, 'rotated');
      },
      { firstBackOffMs: 100, longestBackOffMs: 400 },
    );
  });
});

describe('two API servers of one cluster', () => {
  const timing = { firstBackOffMs: 100, longestBackOffMs: 400 };
  let relay: TcpRelay;
  let second: Apiserver;
  /** Requests to the second one. */
  let throughSecond: KubeRequester;

  beforeAll(async () => {
    relay = await startTcpRelay(testbed.apiserver.port);
  });

  afterAll(() => relay?.stop());

  /** What a client of the adapter is told, one line for each change. */
  function changesOf(cluster: SigningCluster): string[] {
    const changes: string[] = [];
    cluster.requests.subscribe((change) => {
      const name = 'object' in change ? ` ${change.object.name}` : '';
      changes.push(`${change.kind}${name}`);
    });
    return changes;
  }

  async function settled(cluster: SigningCluster, prefix: string, names: string): Promise<void> {
    await eventually(`the requests are ${names}`, () => {
      const now = namesIn(cluster, prefix).join();
      return now === names || notYet(now);
    });
  }

  it('a watch that continues at one that has just started is told to list again', async () => {
    for (const name of ['expired-goes', 'expired-stays']) await submit(name);
    const connection = connect(relay);
    const lists: string[] = [];
    const observed: KubeConnection = {
      ...connection,
      request(request) {
        if (request.what.startsWith('Listing ')) lists.push(request.path);
        return connection.request(request);
      },
    };
    const use = async (cluster: SigningCluster) => {
      await followed(cluster, 'expired-watched');
      const changes = changesOf(cluster);
      relay.hold();
      await remove('expired-goes');
      await submit('expired-comes');
      second = await testbed.startApiserver({});
      expect(namesIn(cluster, 'expired-')).toContain('expired-goes');
      relay.targetPort = second.port;
      relay.cut();

      await settled(cluster, 'expired-', 'expired-comes,expired-stays,expired-watched');
      expect(changes.sort()).toEqual([
        'changed expired-comes',
        'deleted expired-goes',
        // The cut; that its version is too old (410) is no failure.
        'failed',
      ]);
      expect(lists).toHaveLength(2);
    };
    await withCluster(observed, use, timing);
  });

  it('one that is restarted is followed again, and what the other did meanwhile is seen', async () => {
    const asAdmin = testbed.clientCertificate({ user: 'admin', groups: ['system:masters'] });
    throughSecond = testbed.requester(asAdmin, second.url);
    for (const name of ['restart-goes', 'restart-changes']) await submit(name);
    const use = async (cluster: SigningCluster) => {
      const { uid } = await followed(cluster, 'restart-stays');
      const changes = changesOf(cluster);
      await testbed.apiserver.process.stop({ graceMs: 1_000 });
      await send(throughSecond, testbed.csrPath('restart-goes'), 'DELETE');
      await send(throughSecond, testbed.csrPath('restart-changes'), 'PATCH', {
        metadata: { labels: { touched: 'yes' } },
      });
      await send(throughSecond, testbed.csrPath(), 'POST', requestObject('restart-comes'));
      // What was seen last stays readable.
      const before = ['restart-changes', 'restart-goes', 'restart-stays'];
      expect(namesIn(cluster, 'restart-')).toEqual(before);
      await testbed.apiserver.restart();

      await settled(cluster, 'restart-', 'restart-changes,restart-comes,restart-stays');
      expect((await seen(cluster, 'restart-stays')).uid).toBe(uid);
      expect(changes).toContain('failed');
      expect(changes.filter((change) => change !== 'failed').sort()).toEqual([
        'changed restart-changes',
        'changed restart-comes',
        'deleted restart-goes',
      ]);
      const changed = await seen(cluster, 'restart-changes');
      expect(await cluster.writeDecision(changed, approval)).toBe('written');
    };
    await withCluster(connect(), use, timing);
  });
});
