import assert from 'node:assert/strict';
import type { Inventory } from '../inventory.ts';
import { KubeError } from '../kube-error.ts';
import type { KubeObject } from '../kube-object.ts';
import type { ObjectChange, ObjectWatch } from '../object-watch.ts';
import type { ReceivedRequest, SigningCluster } from '../signing-cluster.ts';
import type { Parsed, TalosMachine } from '../talos-objects.ts';

/**
 * A Kubernetes to hold the cases against: its ports, and what its users, its administrator and its
 * signer do. One is made per case, or the names in it are unused.
 */
export interface KubernetesUnderTest {
  readonly inventory: Inventory;
  readonly signingCluster: SigningCluster;
  /** Begins every name of this case, so that cases can share a server. */
  readonly prefix: string;
  /**
   * Submits a CSR of the node `worker-1` under this name; `signerName` other than kubelet-serving
   * where given. The request in it need only be one that the server stores.
   */
  createRequest(name: string, signerName?: string): Promise<void>;
  /** Changes a label of a CSR, as another writer does. */
  touchRequest(name: string): Promise<void>;
  deleteRequest(name: string): Promise<void>;
  /** The CSR as it is stored now. */
  readRequest(name: string): Promise<KubeObject>;
  createMachine(name: string, spec: unknown): Promise<void>;
  updateMachine(name: string, spec: unknown): Promise<void>;
  deleteMachine(name: string): Promise<void>;
  /** The TalosMachine as it is stored now. */
  readMachine(name: string): Promise<KubeObject>;
  createCluster(name: string, spec: unknown): Promise<void>;
  createSecret(name: string, data: Readonly<Record<string, string>>): Promise<void>;
  /** Events of a machine by its name: reason and how often it happened. */
  readEvents(machine: string): Promise<readonly { reason: string; note: string; count: number }[]>;
}

/** One promise that every Kubernetes keeps, real or in memory. */
export interface KubernetesCase {
  readonly title: string;
  run(kubernetes: KubernetesUnderTest): Promise<void>;
}

const approval = {
  type: 'Approved',
  reason: 'IchorKubeletServing',
  message: 'worker-1 holds all names',
} as const;
const workerSpec = {
  clusterRef: { name: 'lab' },
  machineType: 'worker',
  address: '10.5.0.11',
  hostname: 'worker-1',
};

/** What the operator relies on; each case fails with a message that says what was promised. */
export const kubernetesCases: readonly KubernetesCase[] = [
  {
    title: 'a request that is submitted is seen, undecided and whole',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}seen`;
      await kubernetes.createRequest(name);
      const seen = await requestSeen(kubernetes, name);
      assert.deepEqual(seen.conditions, [], 'nobody has decided');
      assert.equal(seen.csr.spec.username, 'system:node:worker-1', 'the server stamps the user');
      assert.ok(Number.isFinite(seen.createdAt), 'the server stamps the time');
      assert.notEqual(seen.raw, undefined, 'an undecided request is kept whole');
    },
  },
  {
    title: 'a request of another signer is never seen',
    async run(kubernetes) {
      const [other, ours] = [`${kubernetes.prefix}other`, `${kubernetes.prefix}ours`];
      await kubernetes.createRequest(other, 'kubernetes.io/kube-apiserver-client-kubelet');
      await kubernetes.createRequest(ours);
      await requestSeen(kubernetes, ours);
      const names = kubernetes.signingCluster.requests.list().map((request) => request.name);
      assert.ok(!names.includes(other), 'the selector leaves other signers out');
    },
  },
  {
    title: 'a decision is written once, and then seen with its reason and message',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}decided`;
      await kubernetes.createRequest(name);
      const seen = await requestSeen(kubernetes, name);
      assert.equal(await kubernetes.signingCluster.writeDecision(seen, approval), 'written');
      const decided = await requestSeen(
        kubernetes,
        name,
        ({ conditions }) => conditions.length > 0,
      );
      assert.deepEqual(decided.conditions, [approval]);
      assert.equal(decided.raw, undefined, 'a decided request is kept trimmed');
      assert.equal(decided.csr.spec.request, seen.csr.spec.request, 'its bytes are kept');
      await assert.rejects(
        kubernetes.signingCluster.writeDecision(decided, approval),
        (error) => error instanceof KubeError && error.code === 'invalid',
        'a decision is never written over another',
      );
    },
  },
  {
    title: 'a decision changes nothing but the conditions',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}whole`;
      await kubernetes.createRequest(name);
      const seen = await requestSeen(kubernetes, name);
      const before = await kubernetes.readRequest(name);
      await kubernetes.signingCluster.writeDecision(seen, approval);
      const after = await kubernetes.readRequest(name);
      assert.deepEqual(after['spec'], before['spec']);
      const { labels, annotations, uid } = after.metadata;
      assert.deepEqual(
        { labels, annotations, uid },
        {
          labels: before.metadata['labels'],
          annotations: before.metadata['annotations'],
          uid: before.metadata.uid,
        },
      );
    },
  },
  {
    title: 'a decision on a request that changed meanwhile is a conflict, and nothing is written',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}stale`;
      await kubernetes.createRequest(name);
      const seen = await requestSeen(kubernetes, name);
      await kubernetes.touchRequest(name);
      assert.equal(await kubernetes.signingCluster.writeDecision(seen, approval), 'conflict');
      const fresh = await requestSeen(
        kubernetes,
        name,
        ({ resourceVersion }) => resourceVersion !== seen.resourceVersion,
      );
      assert.deepEqual(fresh.conditions, []);
      assert.equal(await kubernetes.signingCluster.writeDecision(fresh, approval), 'written');
    },
  },
  {
    title: 'a decision on a request that is deleted, or replaced under its name, finds it gone',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}gone`;
      await kubernetes.createRequest(name);
      const seen = await requestSeen(kubernetes, name);
      await kubernetes.deleteRequest(name);
      assert.equal(await kubernetes.signingCluster.writeDecision(seen, approval), 'gone');
      await kubernetes.createRequest(name);
      const successor = await requestSeen(kubernetes, name, ({ uid }) => uid !== seen.uid);
      assert.equal(await kubernetes.signingCluster.writeDecision(seen, approval), 'gone');
      assert.equal(await kubernetes.signingCluster.writeDecision(successor, approval), 'written');
    },
  },
  {
    title: 'a deleted request is announced and no longer listed',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}deleted`;
      const { requests } = kubernetes.signingCluster;
      await kubernetes.createRequest(name);
      await requestSeen(kubernetes, name);
      const deleted = nextChange(
        requests,
        (change) => change.kind === 'deleted' && change.object.name === name,
      );
      await kubernetes.deleteRequest(name);
      await deleted;
      assert.ok(!requests.list().some((request) => request.name === name));
    },
  },
  {
    title: 'the cluster has one uid, and a clock',
    async run(kubernetes) {
      const uid = await kubernetes.signingCluster.readClusterUid();
      assert.notEqual(uid, '');
      assert.equal(await kubernetes.signingCluster.readClusterUid(), uid);
      assert.equal(typeof kubernetes.signingCluster.serverTime(), 'number');
    },
  },
  {
    title: 'a TalosMachine is seen parsed, and its change with what it was before',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}machine`;
      await kubernetes.createMachine(name, workerSpec);
      const seen = await machineSeen(kubernetes, name);
      assert.deepEqual(seen.spec, {
        cluster: 'lab',
        machineType: 'worker',
        address: '10.5.0.11',
        hostname: 'worker-1',
      });
      const changed = nextChange(
        kubernetes.inventory.machines,
        (change) => change.kind === 'changed' && addressOf(change.object) === '10.5.0.12',
      );
      await kubernetes.updateMachine(name, { ...workerSpec, address: '10.5.0.12' });
      const change = await changed;
      assert.equal(
        change.kind === 'changed' && change.previous && addressOf(change.previous),
        '10.5.0.11',
      );
      const again = await machineSeen(kubernetes, name, ({ spec }) => spec.address === '10.5.0.12');
      assert.equal(again.generation, seen.generation + 1, 'a new spec is a new generation');
    },
  },
  {
    title: 'a TalosCluster without settings reads as switched off',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}cluster`;
      await kubernetes.createCluster(name, { security: { kubeletServingCertificates: {} } });
      const { clusters } = kubernetes.inventory;
      const seen = await eventually(clusters, () =>
        clusters.list().find(({ kind, value }) => kind === 'valid' && value.name === name),
      );
      assert.deepEqual(seen.kind === 'valid' && seen.value.spec.servingCertificates, {
        enabled: false,
        verifyFromAPIServer: false,
        unknownNames: 'Deny',
        maxExpirationSeconds: undefined,
        extraDNSNames: [],
        extraSubnets: [],
        probe: true,
      });
    },
  },
  {
    title: 'a status is applied whole: what is left out is removed, and the spec stays',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}status`;
      await kubernetes.createMachine(name, workerSpec);
      const { generation } = await machineSeen(kubernetes, name);
      const certificate = {
        request: 'csr-1',
        issuedAt: '2026-01-01T00:00:00Z',
        notAfter: '2027-01-01T00:00:00Z',
        dnsNames: ['worker-1'],
        ipAddresses: ['10.5.0.11'],
        fingerprint: 'ab'.repeat(32),
        adopted: false,
      };
      await kubernetes.inventory.applyMachineStatus(name, {
        nodeName: 'worker-1',
        kubeletServingCertificate: certificate,
      });
      const full = await machineSeen(
        kubernetes,
        name,
        ({ status }) => status.nodeName !== undefined,
      );
      assert.deepEqual(full.status.kubeletServingCertificate, certificate);
      await kubernetes.inventory.applyMachineStatus(name, { nodeName: 'worker-1' });
      const less = await machineSeen(
        kubernetes,
        name,
        ({ status }) => status.kubeletServingCertificate === undefined,
      );
      assert.equal(less.status.nodeName, 'worker-1');
      assert.equal(less.generation, generation, 'a status is no new generation');
      const stored = await kubernetes.readMachine(name);
      assert.deepEqual(Object.keys(stored['status'] as object), ['nodeName']);
    },
  },
  {
    title: 'a status of an object that does not exist is refused',
    async run(kubernetes) {
      await assert.rejects(
        kubernetes.inventory.applyMachineStatus(`${kubernetes.prefix}nobody`, { nodeName: 'x' }),
        (error) => error instanceof KubeError && error.code === 'notFound',
      );
    },
  },
  {
    title: 'a repeated Event raises the count, another reason is another Event',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}events`;
      await kubernetes.createMachine(name, workerSpec);
      const machine = await machineSeen(kubernetes, name);
      const event = {
        machine,
        type: 'Warning',
        reason: 'IpAddressNotOfNode',
        action: 'Deny',
        note: 'IpAddressNotOfNode: "10.5.0.99"',
        related: { name: 'csr-1', uid: '11111111-1111-1111-1111-111111111111' },
      } as const;
      for (let times = 0; times < 3; times += 1) await kubernetes.inventory.recordEvent(event);
      await kubernetes.inventory.recordEvent({
        ...event,
        reason: 'NameReserved',
        note: 'ü'.repeat(2000),
      });
      const events = await kubernetes.readEvents(name);
      const counts = Object.fromEntries(events.map(({ reason, count }) => [reason, count]));
      assert.deepEqual(counts, { IpAddressNotOfNode: 3, NameReserved: 1 });
      const long = events.find(({ reason }) => reason === 'NameReserved');
      assert.match(long?.note ?? '', /^ü{510}…$/, 'a note is cut to 1,024 bytes');
    },
  },
  {
    title: 'a Secret is read by key, decoded; one that does not exist is named',
    async run(kubernetes) {
      const name = `${kubernetes.prefix}secret`;
      await kubernetes.createSecret(name, { kubeconfig: 'apiVersion: v1\n', empty: '' });
      const values = await kubernetes.inventory.readSecret(name);
      assert.equal(Buffer.from(values.get('kubeconfig') ?? []).toString(), 'apiVersion: v1\n');
      assert.equal(values.get('absent'), undefined);
      await assert.rejects(
        kubernetes.inventory.readSecret(`${name}-absent`),
        (error) =>
          error instanceof KubeError &&
          error.code === 'notFound' &&
          error.message.includes(`${name}-absent`),
      );
    },
  },
];

function addressOf(machine: Parsed<TalosMachine>): string | undefined {
  return machine.kind === 'valid' ? machine.value.spec.address : undefined;
}

function requestSeen(
  kubernetes: KubernetesUnderTest,
  name: string,
  suits: (request: ReceivedRequest) => boolean = () => true,
): Promise<ReceivedRequest> {
  const { requests } = kubernetes.signingCluster;
  return eventually(requests, () =>
    requests.list().find((request) => request.name === name && suits(request)),
  );
}

async function machineSeen(
  kubernetes: KubernetesUnderTest,
  name: string,
  suits: (machine: TalosMachine) => boolean = () => true,
): Promise<TalosMachine> {
  const { machines } = kubernetes.inventory;
  return eventually(machines, () => {
    for (const { kind, value } of machines.list()) {
      if (kind === 'valid' && value.name === name && suits(value)) return value;
    }
    return undefined;
  });
}

/** Looks now and after every change, until there is something. The test's own time limit ends it. */
async function eventually<T, R>(
  watch: ObjectWatch<T>,
  look: () => R | undefined,
): Promise<NonNullable<R>> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== null) return found;
    await nextChange(watch, () => true);
  }
}

function nextChange<T>(
  watch: ObjectWatch<T>,
  suits: (change: ObjectChange<T>) => boolean,
): Promise<ObjectChange<T>> {
  return new Promise((resolve) => {
    const end = watch.subscribe((change) => {
      if (!suits(change)) return;
      end();
      resolve(change);
    });
  });
}
