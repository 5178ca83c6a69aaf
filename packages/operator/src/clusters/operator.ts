import type { InvalidObject, Parsed, TalosCluster, TalosMachine } from '@ichor/k8s-adapter';
import { ManagedCluster, unusableObjects } from './managed-cluster.ts';
import type { OperatorPorts } from './operator-ports.ts';

/** A burst of inventory events is one pass; in milliseconds. */
const passGapMs = 20;

/**
 * Runs one ManagedCluster per TalosCluster of the namespace. Nothing of one cluster is ever used
 * for another: each has its machines, its credentials and its connections.
 */
export class Operator {
  readonly #ports: OperatorPorts;
  readonly #clusters = new Map<
    string,
    { readonly uid: string; readonly managed: ManagedCluster }
  >();
  readonly #unsubscribe: (() => void)[] = [];
  readonly #reported = new Map<string, string>();
  readonly #closing = new Set<Promise<void>>();
  #cancelPass: (() => void) | undefined;
  #stopped = false;

  constructor(ports: OperatorPorts) {
    this.#ports = ports;
  }

  /** Begins to work; returns at once. */
  start(): void {
    const { clusters, machines } = this.#ports.inventory;
    const watching = (kind: string) => (change: { kind: string; message?: string }) => {
      if (change.kind === 'failed') {
        this.#ports.logger.warn(`watching ${kind}`, { error: change.message });
      } else this.#wake();
    };
    this.#unsubscribe.push(clusters.subscribe(watching('TalosClusters')));
    this.#unsubscribe.push(machines.subscribe(watching('TalosMachines')));
    this.#wake();
  }

  /** Ends all work. Resolves when no write can happen any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelPass?.();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await Promise.all([...this.#clusters.values()].map(({ managed }) => managed.close()));
    await Promise.all(this.#closing);
    this.#ports.inventory.close();
  }

  #wake(): void {
    if (this.#stopped || this.#cancelPass !== undefined) return;
    this.#cancelPass = this.#ports.clock.after(passGapMs, () => {
      this.#cancelPass = undefined;
      if (!this.#stopped) this.#pass();
    });
  }

  #pass(): void {
    const { inventory } = this.#ports;
    // Half a list looks like deleted machines, and what a machine holds would be free.
    if (!inventory.clusters.synced() || !inventory.machines.synced()) return;
    const clusters = this.#usable(inventory.clusters.list(), 'TalosCluster');
    const machines = this.#usable(inventory.machines.list(), 'TalosMachine');

    for (const [name, { uid, managed }] of this.#clusters) {
      if (clusters.valid.some((cluster) => cluster.name === name && cluster.uid === uid)) continue;
      this.#clusters.delete(name);
      const closing = managed.close().finally(() => this.#closing.delete(closing));
      this.#closing.add(closing);
    }
    for (const cluster of clusters.valid) {
      const view = {
        cluster,
        machines: machines.valid.filter(({ spec }) => spec.cluster === cluster.name),
        sharedWith: this.#sharedWith(cluster, clusters.valid),
        unusable: problemsOf(machines.invalid, (object) => object.cluster === cluster.name),
        notice: unusableObjects(
          problemsOf(
            [...clusters.invalid, ...machines.invalid],
            (object) => object.cluster === undefined,
          ),
          '',
        ),
      };
      const known = this.#clusters.get(cluster.name);
      if (known === undefined) {
        const managed = new ManagedCluster(this.#ports, view, () => this.#wake());
        this.#clusters.set(cluster.name, { uid: cluster.uid, managed });
      } else known.managed.update(view);
    }
  }

  /** The other enabled clusters whose API server turned out to be the same one. */
  #sharedWith(cluster: TalosCluster, all: readonly TalosCluster[]): readonly string[] {
    const uid = this.#clusters.get(cluster.name)?.managed.clusterUid;
    if (uid === undefined) return [];
    return all
      .filter(
        (other) =>
          other.name !== cluster.name &&
          other.spec.servingCertificates.enabled &&
          this.#clusters.get(other.name)?.managed.clusterUid === uid,
      )
      .map(({ name }) => name);
  }

  #usable<T extends TalosCluster | TalosMachine>(
    objects: readonly Parsed<T>[],
    kind: string,
  ): { readonly valid: readonly T[]; readonly invalid: readonly Unusable[] } {
    const valid: T[] = [];
    const invalid: Unusable[] = [];
    const unusable = new Set<string>();
    for (const object of objects) {
      if (object.kind === 'valid') valid.push(object.value);
      else {
        invalid.push({ kind, object: object.value });
        unusable.add(`${kind} ${object.value.uid}`);
        this.#reportOnce(kind, object.value);
      }
    }
    for (const key of this.#reported.keys()) {
      if (key.startsWith(`${kind} `) && !unusable.has(key)) this.#reported.delete(key);
    }
    return { valid, invalid };
  }

  #reportOnce(kind: string, object: InvalidObject): void {
    const key = `${kind} ${object.uid}`;
    if (this.#reported.get(key) === object.resourceVersion) return;
    this.#reported.set(key, object.resourceVersion);
    this.#ports.logger.error('an object cannot be used', {
      kind,
      name: object.name,
      problem: object.problem,
    });
  }
}

interface Unusable {
  readonly kind: string;
  readonly object: InvalidObject;
}

function problemsOf(
  unusable: readonly Unusable[],
  concerned: (object: InvalidObject) => boolean,
): readonly string[] {
  return unusable
    .filter(({ object }) => concerned(object))
    .map(({ kind, object }) => `${kind} ${object.name}: ${object.problem}`);
}
