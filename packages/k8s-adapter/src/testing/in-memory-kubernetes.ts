import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Inventory, MachineEvent } from '../inventory.ts';
import { isRecord, type KubeObject } from '../kube-object.ts';
import { cutNote } from '../machine-event.ts';
import { parseTalosCluster } from '../parse-talos-cluster.ts';
import { parseTalosMachine } from '../parse-talos-machine.ts';
import {
  approvalBody,
  isLeftOnServer,
  kubeletServingSigner,
  receiveRequest,
} from '../received-request.ts';
import type {
  DecisionCondition,
  DecisionOutcome,
  ReceivedRequest,
  SigningCluster,
} from '../signing-cluster.ts';
import { InMemoryCollection, versionCounter } from './in-memory-store.ts';

/** A call that a port makes, as `intercept` sees it. */
export interface PortCall {
  readonly operation:
    | 'readSecret'
    | 'applyClusterStatus'
    | 'applyMachineStatus'
    | 'recordEvent'
    | 'readClusterUid'
    | 'writeDecision';
  /** Name of the object concerned. */
  readonly name: string;
}

/** How the in-memory Kubernetes behaves; every part has a default. */
export interface InMemoryKubernetesOptions {
  /** Namespace of the TalosClusters and TalosMachines; `ichor-system`. */
  readonly namespace?: string;
  /** What `SigningCluster.server` says; `https://kubernetes.test:6443`. */
  readonly server?: string;
  /** UID of `kube-system`; random. */
  readonly clusterUid?: string;
  /** Milliseconds since the epoch: stamps objects and is the server's clock; `Date.now`. */
  readonly now?: () => number;
  /**
   * Plays the signer: PEM text of the certificate for a request just approved, or undefined to
   * leave it unsigned. Absent: nothing is signed.
   */
  readonly sign?: (request: KubeObject) => string | undefined;
  /** Runs before every call of a port; what it throws (a KubeError, as the real ports) the call throws. */
  readonly intercept?: (call: PortCall) => void | Promise<void>;
  /** Runs when a call has taken effect; what it throws the call throws: an answer that got lost. */
  readonly afterwards?: (call: PortCall) => void | Promise<void>;
}

/** A CSR as a user submits it; the API server stamps user and time. */
export interface NewRequest {
  /** Absent: made up as `csr-N`. */
  readonly name?: string;
  readonly username: string;
  /** Absent: `system:nodes` and `system:authenticated`. */
  readonly groups?: readonly string[];
  /** Base64 of the PEM text, as in `spec.request`. */
  readonly request: string;
  /** Absent: `digital signature`, `server auth`. */
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
  /** Absent: `kubernetes.io/kubelet-serving`. */
  readonly signerName?: string;
}

/** An Event as it is stored, repeats counted. */
export interface RecordedEvent {
  readonly machine: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly related: { readonly name: string; readonly uid: string } | undefined;
  /** How often it happened. */
  readonly count: number;
}

/**
 * A Kubernetes without a server, for tests and demonstrations. Its ports keep what the real ones
 * promise: changes are seen later, stale writes conflict, a status is applied whole.
 */
export interface InMemoryKubernetes {
  /** Opens a port, as a starting program does; each has a view of its own. */
  inventory(): Inventory;
  /** Opens a port, as a starting program does; each has a view of its own. */
  signingCluster(): SigningCluster;

  createCluster(name: string, spec: unknown): KubeObject;
  createMachine(name: string, spec: unknown): KubeObject;
  /** Replaces `spec` and raises the generation. */
  updateCluster(name: string, spec: unknown): KubeObject;
  /** Replaces `spec` and raises the generation. */
  updateMachine(name: string, spec: unknown): KubeObject;
  deleteCluster(name: string): void;
  deleteMachine(name: string): void;
  /** Values as text or bytes, not encoded. Replaces a Secret of the same name. */
  setSecret(name: string, data: Readonly<Record<string, string | Uint8Array>>): void;
  deleteSecret(name: string): void;

  createRequest(request: NewRequest): KubeObject;
  /** Appends a condition as somebody else does, without a guard. */
  decideRequest(name: string, type: string, reason: string, message?: string): KubeObject;
  /** Puts a certificate (PEM text) on a request, as the signer does. */
  issueCertificate(name: string, pem: string): KubeObject;
  /** Raises the resource version, as another writer's metadata change does: the next stale write conflicts. */
  touchRequest(name: string): void;
  deleteRequest(name: string): void;

  cluster(name: string): KubeObject;
  machine(name: string): KubeObject;
  request(name: string): KubeObject;
  requests(): readonly KubeObject[];
  events(): readonly RecordedEvent[];

  /** While held, no change reaches a port's view; released, all arrive in order. */
  holdWatches(held: boolean): void;
  /** Tells every open view that it cannot be followed at present, as a broken watch does. */
  breakWatches(message: string): void;
  /** Resolves when every change so far has reached the views (unless they are held). */
  settled(): Promise<void>;
}

/** Makes an empty Kubernetes in memory. */
export function inMemoryKubernetes(options: InMemoryKubernetesOptions = {}): InMemoryKubernetes {
  const namespace = options.namespace ?? 'ichor-system';
  const server = options.server ?? 'https://kubernetes.test:6443';
  const clusterUid = options.clusterUid ?? randomUUID();
  const now = options.now ?? Date.now;
  const versions = versionCounter();
  const clusters = new InMemoryCollection('TalosCluster', versions, now);
  const machines = new InMemoryCollection('TalosMachine', versions, now);
  const secrets = new InMemoryCollection('Secret', versions, now);
  const requests = new InMemoryCollection('CertificateSigningRequest', versions, now);
  const events = new Map<string, RecordedEvent>();
  let requestNumber = 0;

  const call = async <T>(
    operation: PortCall['operation'],
    name: string,
    act: () => T,
  ): Promise<T> => {
    // A real call never answers in the same turn.
    await Promise.resolve();
    await options.intercept?.({ operation, name });
    const result = act();
    await options.afterwards?.({ operation, name });
    return result;
  };

  const createResource = (collection: InMemoryCollection, kind: string) =>
    function create(name: string, spec: unknown): KubeObject {
      const body = { apiVersion: 'ichor.dev/v1alpha1', kind, spec };
      return collection.create(name, body, { namespace, generation: 1 });
    };

  const updateSpec = (collection: InMemoryCollection) =>
    function update(name: string, spec: unknown): KubeObject {
      return collection.update(name, (object) => {
        if (JSON.stringify(object['spec']) === JSON.stringify(spec)) return object;
        const generation = (object.metadata.generation ?? 0) + 1;
        return { ...object, spec, metadata: { ...object.metadata, generation } };
      });
    };

  // One field manager owns the whole status, so applying replaces it.
  const applyStatus = (collection: InMemoryCollection, name: string, status: unknown): void => {
    const applied: unknown = JSON.parse(JSON.stringify(status));
    collection.update(name, (object) => ({ ...object, status: applied }));
  };

  const issueCertificate = (name: string, pem: string): KubeObject =>
    requests.update(name, (object) => ({
      ...object,
      status: { ...statusOf(object), certificate: Buffer.from(pem).toString('base64') },
    }));

  const addCondition = (name: string, condition: Record<string, unknown>): KubeObject => {
    const at = `${new Date(now()).toISOString().slice(0, 19)}Z`;
    const stamped = { ...condition, lastUpdateTime: at, lastTransitionTime: at };
    const decided = requests.update(name, (object) => {
      const status = statusOf(object);
      const conditions = Array.isArray(status['conditions']) ? status['conditions'] : [];
      return { ...object, status: { ...status, conditions: [...conditions, stamped] } };
    });
    if (condition['type'] === 'Approved') signLater(decided);
    return decided;
  };

  const signLater = (approved: KubeObject): void => {
    queueMicrotask(() => {
      const { name, uid } = approved.metadata;
      if (!requests.has(name) || requests.get(name).metadata.uid !== uid) return;
      const pem = options.sign?.(approved);
      if (pem !== undefined) issueCertificate(name, pem);
    });
  };

  const writeDecision = (
    request: ReceivedRequest,
    { type, reason, message }: DecisionCondition,
  ): DecisionOutcome => {
    if (!requests.has(request.name)) return 'gone';
    const stored = requests.get(request.name);
    if (stored.metadata.uid !== request.uid) return 'gone';
    if (stored.metadata.resourceVersion !== request.resourceVersion) return 'conflict';
    if (isLeftOnServer(request)) {
      approvalBody({ ...request, raw: stored }, { type, reason, message });
    }
    addCondition(request.name, { type, status: 'True', reason, message });
    return 'written';
  };

  const recordEvent = (event: MachineEvent): void => {
    const { machine, type, reason, action, note, related } = event;
    const key = `${machine.uid}/${reason}`;
    const known = events.get(key);
    if (known !== undefined) {
      events.set(key, { ...known, count: known.count + 1 });
      return;
    }
    events.set(key, {
      machine: machine.name,
      type,
      reason,
      action,
      note: cutNote(note),
      related,
      count: 1,
    });
  };

  return {
    inventory() {
      const clusterView = clusters.observe(parseTalosCluster);
      const machineView = machines.observe(parseTalosMachine);
      return {
        namespace,
        clusters: clusterView.list,
        machines: machineView.list,
        readSecret: (name) => call('readSecret', name, () => secretValues(secrets.get(name))),
        applyClusterStatus: (name, status) =>
          call('applyClusterStatus', name, () => applyStatus(clusters, name, status)),
        applyMachineStatus: (name, status) =>
          call('applyMachineStatus', name, () => applyStatus(machines, name, status)),
        recordEvent: (event) => call('recordEvent', event.machine.name, () => recordEvent(event)),
        close() {
          clusterView.close();
          machineView.close();
        },
      };
    },

    signingCluster() {
      const view = requests.observe(receiveRequest, isOfOurSigner);
      return {
        server,
        requests: view.list,
        readClusterUid: () => call('readClusterUid', 'kube-system', () => clusterUid),
        serverTime: now,
        async writeDecision(request, condition) {
          if (!isLeftOnServer(request)) approvalBody(request, condition);
          return call('writeDecision', request.name, () => writeDecision(request, condition));
        },
        close: () => view.close(),
      };
    },

    createCluster: createResource(clusters, 'TalosCluster'),
    createMachine: createResource(machines, 'TalosMachine'),
    updateCluster: updateSpec(clusters),
    updateMachine: updateSpec(machines),
    deleteCluster: (name) => clusters.delete(name),
    deleteMachine: (name) => machines.delete(name),
    setSecret(name, values) {
      const data = Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      );
      if (secrets.has(name)) secrets.delete(name);
      secrets.create(name, { apiVersion: 'v1', kind: 'Secret', data }, { namespace });
    },
    deleteSecret: (name) => secrets.delete(name),

    createRequest(request) {
      requestNumber += 1;
      const spec = {
        request: request.request,
        signerName: request.signerName ?? kubeletServingSigner,
        usages: request.usages ?? ['digital signature', 'server auth'],
        username: request.username,
        groups: request.groups ?? ['system:nodes', 'system:authenticated'],
        ...(request.expirationSeconds === undefined
          ? {}
          : { expirationSeconds: request.expirationSeconds }),
      };
      return requests.create(request.name ?? `csr-${requestNumber}`, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        spec,
        status: {},
      });
    },
    decideRequest: (name, type, reason, message = '') =>
      addCondition(name, { type, status: 'True', reason, message }),
    issueCertificate,
    touchRequest: (name) => void requests.touch(name),
    deleteRequest: (name) => requests.delete(name),

    cluster: (name) => clusters.get(name),
    machine: (name) => machines.get(name),
    request: (name) => requests.get(name),
    requests: () => requests.all(),
    events: () => [...events.values()],

    holdWatches(held) {
      for (const collection of [clusters, machines, requests]) collection.hold(held);
    },
    breakWatches(message) {
      for (const collection of [clusters, machines, requests]) collection.fail(message);
    },
    settled: () => setImmediate(),
  };
}

function secretValues(secret: KubeObject): ReadonlyMap<string, Uint8Array> {
  const data = secret['data'] as Readonly<Record<string, string>>;
  return new Map(
    Object.entries(data).map(([key, value]) => [key, new Uint8Array(Buffer.from(value, 'base64'))]),
  );
}

function statusOf(object: KubeObject): Record<string, unknown> {
  return isRecord(object['status']) ? object['status'] : {};
}

function isOfOurSigner(object: KubeObject): boolean {
  return isRecord(object['spec']) && object['spec']['signerName'] === kubeletServingSigner;
}
