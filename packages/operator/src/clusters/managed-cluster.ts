import {
  KubeError,
  type SigningCluster,
  type TalosCluster,
  type TalosMachine,
} from '@ichor/k8s-adapter';
import type { AccessSource, TalosClient } from '@ichor/talos-client';
import type { ClusterView } from '../kubelet-serving/observe.ts';
import { type OperationalState, planClusterStatus } from '../kubelet-serving/plan-conditions.ts';
import { KubeletServingReconciler } from '../kubelet-serving/reconciler.ts';
import { errorText } from '../runtime/error-text.ts';
import { SerialQueue } from '../runtime/serial-queue.ts';
import type { OperatorPorts } from './operator-ports.ts';
import { accessFromSecret, secretText, withEndpointsOf } from './talos-access.ts';

/** Key of a Secret that holds a kubeconfig. */
export const kubeconfigKey = 'kubeconfig';
/** Credentials are looked at again, and what failed is tried again, after this; in milliseconds. */
export const credentialsMs = 60_000;
const retryMs = 5_000;

/** What the inventory says about one cluster and its surroundings. */
export interface ManagedClusterView {
  readonly cluster: TalosCluster;
  readonly machines: readonly TalosMachine[];
  /** Names of the other enabled TalosClusters with the same API server. */
  readonly sharedWith: readonly string[];
  /** What is wrong with machines of this cluster that cannot be used. */
  readonly unusable: readonly string[];
  readonly notice: OperationalState | undefined;
}

interface Open {
  /** What the connection was opened with; another text means another connection. */
  readonly credentials: string;
  /** Name of the Secret they came from. */
  readonly secret: string | undefined;
  /** Milliseconds since the epoch. */
  readAt: number;
  readonly signing: SigningCluster;
  clusterUid: string | undefined;
  reconciler: KubeletServingReconciler | undefined;
}

/**
 * One TalosCluster with its connections and, while it is enabled, its reconciler. What fails here
 * is said in the status of this cluster and stops no other one.
 */
export class ManagedCluster {
  readonly #ports: OperatorPorts;
  readonly #queue = new SerialQueue();
  readonly #uidKnown: () => void;
  #view: ManagedClusterView;
  #open: Open | undefined;
  #talos:
    | { readonly key: string; readonly access: AccessSource; readonly client: TalosClient }
    | undefined;
  /** Why the Talos credentials could not be used when they were last looked at. */
  #talosProblem: OperationalState | undefined;
  /** Resolves when the reconcilers that were halted can write no more. */
  #halted: Promise<unknown> = Promise.resolve();
  #offStatus: string | undefined;
  #cancelRetry: (() => void) | undefined;
  #closed = false;

  /** @param uidKnown is called when it becomes known which cluster the API server is */
  constructor(ports: OperatorPorts, view: ManagedClusterView, uidKnown: () => void) {
    this.#ports = ports;
    this.#view = view;
    this.#uidKnown = uidKnown;
    this.#sync();
  }

  /** UID of the cluster that is decided for; undefined while that is not known, or switched off. */
  get clusterUid(): string | undefined {
    return this.#open?.clusterUid;
  }

  /**
   * Takes over what the inventory says now. A reconciler that runs learns it at once, or is halted
   * where it may not go on: neither may wait for a call that is on its way.
   */
  update(view: ManagedClusterView): void {
    const isAccessKept = hasSameAccess(this.#view.cluster, view.cluster);
    this.#view = view;
    if (!isAccessKept) this.#halt();
    else this.#open?.reconciler?.update(this.#reconcilerView());
    this.#sync();
  }

  /** Ends all work for the cluster. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRetry?.();
    this.#halt();
    await this.#queue.run(async () => {
      await this.#shut();
      this.#talos?.client.close();
    });
  }

  #sync(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    void this.#queue.run(async () => {
      if (this.#closed) return;
      try {
        await this.#reconcile();
        this.#later(this.#talosProblem === undefined ? credentialsMs : retryMs);
      } catch (error) {
        await this.#sayProblem(error);
        this.#later(retryMs);
      }
    });
  }

  #later(inMs: number): void {
    if (this.#closed) return;
    this.#cancelRetry?.();
    this.#cancelRetry = this.#ports.clock.after(inMs, () => this.#sync());
  }

  async #reconcile(): Promise<void> {
    const { cluster } = this.#view;
    if (!cluster.spec.servingCertificates.enabled) {
      await this.#shut();
      await this.#writeOff(undefined);
      return;
    }
    this.#offStatus = undefined;
    const open = await this.#connect();
    if (open.clusterUid === undefined) {
      open.clusterUid = await open.signing.readClusterUid();
      this.#uidKnown();
    }
    this.#prepareTalos();
    this.#talosProblem = await this.#findTalosProblem();
    await this.#halted;
    // What changed meanwhile is the next one's in the queue; this one's connections may not fit it.
    if (this.#closed || !hasSameAccess(cluster, this.#view.cluster)) return;
    const view = this.#reconcilerView();
    if (open.reconciler === undefined) {
      open.reconciler = new KubeletServingReconciler(
        {
          inventory: this.#ports.inventory,
          signing: open.signing,
          talos: () => this.#talosClient(),
          clock: this.#ports.clock,
          random: this.#ports.random,
          logger: this.#ports.logger.with({ cluster: cluster.name }),
        },
        view,
      );
    } else open.reconciler.update(view);
  }

  #reconcilerView(): ClusterView {
    const { cluster, machines, sharedWith, unusable, notice } = this.#view;
    return {
      cluster,
      machines,
      // What a machine holds that cannot be used is not known: it would be free for others.
      blocked: sharedApiServer(sharedWith) ?? unusableObjects(unusable, 'Nothing is decided. '),
      notice: this.#talosProblem ?? notice,
    };
  }

  /** Why the Talos credentials cannot be used, where they cannot. Nothing is dialled. */
  async #findTalosProblem(): Promise<OperationalState | undefined> {
    try {
      await this.#talos?.access.current();
      return undefined;
    } catch (error) {
      return { status: 'False', reason: 'TalosCredentialsUnusable', message: errorText(error) };
    }
  }

  async #connect(): Promise<Open> {
    const secret = this.#view.cluster.spec.kubernetes.kubeconfigSecret;
    const now = this.#ports.clock.now();
    const known = this.#open;
    if (known?.secret === secret && known !== undefined && now - known.readAt < credentialsMs) {
      return known;
    }
    const credentials = secret === undefined ? '' : await this.#readKubeconfig(secret);
    if (known !== undefined && known.secret === secret && known.credentials === credentials) {
      known.readAt = now;
      return known;
    }
    await this.#shut();
    const signing =
      secret === undefined
        ? this.#ports.openOwnCluster()
        : this.#ports.openCluster(
            credentials,
            `Secret ${this.#ports.inventory.namespace}/${secret}, key ${kubeconfigKey}`,
          );
    const open: Open = {
      credentials,
      secret,
      readAt: now,
      signing,
      clusterUid: undefined,
      reconciler: undefined,
    };
    this.#open = open;
    return open;
  }

  /** The text of a kubeconfig Secret. Where there is none any more, its connection ends with it. */
  async #readKubeconfig(secret: string): Promise<string> {
    try {
      return await secretText(this.#ports.inventory, secret, kubeconfigKey);
    } catch (error) {
      // Credentials that were taken away must not live on; a server that is silent took nothing away.
      if (!(error instanceof KubeError && error.code === 'unavailable')) await this.#shut();
      throw error;
    }
  }

  /** Ends the reconciler: from now on it begins no write. */
  #halt(): void {
    const reconciler = this.#open?.reconciler;
    if (this.#open === undefined || reconciler === undefined) return;
    this.#open.reconciler = undefined;
    this.#halted = Promise.all([this.#halted, reconciler.stop()]);
  }

  async #shut(): Promise<void> {
    this.#halt();
    const open = this.#open;
    this.#open = undefined;
    await this.#halted;
    open?.signing.close();
  }

  #prepareTalos(): void {
    const secret = this.#view.cluster.spec.talos.talosconfigSecret;
    const key = secret ?? '';
    if (this.#talos?.key === key) return;
    this.#talos?.client.close();
    const source: AccessSource =
      secret === undefined
        ? this.#ports.defaultTalosAccess
        : accessFromSecret(this.#ports.inventory, secret, this.#ports.clock);
    const access = withEndpointsOf(source, () => this.#view.cluster);
    this.#talos = { key, access, client: this.#ports.createTalosClient(access) };
  }

  #talosClient(): TalosClient {
    if (this.#talos === undefined) throw new Error('the Talos client is not ready');
    return this.#talos.client;
  }

  async #sayProblem(error: unknown): Promise<void> {
    const message = errorText(error);
    const { cluster } = this.#view;
    this.#ports.logger.warn('a cluster cannot be worked on; trying again', {
      cluster: cluster.name,
      error: message,
    });
    // While a reconciler runs it writes the status; a passing failure must not fight with it.
    if (this.#open?.reconciler !== undefined) return;
    const reason =
      error instanceof KubeError && error.code === 'unavailable'
        ? 'ApiServerUnreachable'
        : 'KubernetesCredentialsUnusable';
    try {
      await this.#writeOff({ status: 'False', reason, message });
    } catch (failure) {
      this.#ports.logger.warn('the status of the TalosCluster could not be written', {
        cluster: cluster.name,
        error: errorText(failure),
      });
    }
  }

  /** Writes the status of a cluster that no reconciler works on. */
  async #writeOff(problem: OperationalState | undefined): Promise<void> {
    const { cluster, machines } = this.#view;
    const now = this.#ports.clock.now();
    const progress = machines.map(({ name, status }) => {
      const record = status.kubeletServingCertificate;
      const notAfter = record === undefined ? 0 : Date.parse(record.notAfter);
      return {
        name,
        state:
          notAfter > now
            ? { kind: 'certified' as const, notAfter, unverified: undefined }
            : { kind: 'waiting' as const },
      };
    });
    const status = planClusterStatus(
      cluster,
      progress,
      problem ?? { status: 'True', reason: 'Deciding', message: '' },
      now,
    );
    const spelled = JSON.stringify([
      cluster.uid,
      status.observedGeneration,
      status.machines,
      problem,
    ]);
    if (spelled === this.#offStatus) return;
    // A write that fails may have taken effect all the same.
    this.#offStatus = undefined;
    await this.#ports.inventory.applyClusterStatus(cluster.name, status);
    this.#offStatus = spelled;
  }
}

/** True where both versions of a cluster are worked on, with credentials from the same places. */
function hasSameAccess({ spec: a }: TalosCluster, { spec: b }: TalosCluster): boolean {
  return (
    a.servingCertificates.enabled === b.servingCertificates.enabled &&
    a.kubernetes.kubeconfigSecret === b.kubernetes.kubeconfigSecret &&
    a.talos.talosconfigSecret === b.talos.talosconfigSecret
  );
}

function sharedApiServer(sharedWith: readonly string[]): OperationalState | undefined {
  if (sharedWith.length === 0) return undefined;
  return {
    status: 'False',
    reason: 'SharedApiServer',
    message: `Nothing is decided: the TalosCluster ${sharedWith.join(', ')} has the same API server. Switch the option off in all but one of them.`,
  };
}

/**
 * The state of a cluster for objects that cannot be used; undefined where there are none.
 *
 * @param opening what comes before the advice, with a blank at its end
 */
export function unusableObjects(
  problems: readonly string[],
  opening: string,
): OperationalState | undefined {
  const [first] = problems;
  if (first === undefined) return undefined;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return { status: 'False', reason: 'InvalidObject', message: `${opening}Mend ${first}${more}` };
}
