import type { ClusterStatusApply, Inventory } from '@ichor/k8s-adapter';
import type { Clock } from '../runtime/clock.ts';

/** A write that failed is tried again after this, in milliseconds. */
export const clusterStatusRetryMs = 2_000;

/**
 * Writes the status of one TalosCluster, one write at a time and only where something changed.
 * Transition times alone are no change. What failed rests for a while, whatever else happens.
 */
export class ClusterStatusWriter {
  readonly #inventory: Pick<Inventory, 'applyClusterStatus'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ended: (error: unknown) => void;
  #written: string | undefined;
  #writing = false;
  /** When a write may follow one that failed, in milliseconds since the epoch. */
  #retryAt = Number.NEGATIVE_INFINITY;

  /** @param ended is called after each write, with what it failed with or with undefined */
  constructor(
    inventory: Pick<Inventory, 'applyClusterStatus'>,
    clock: Pick<Clock, 'now'>,
    ended: (error: unknown) => void,
  ) {
    this.#inventory = inventory;
    this.#clock = clock;
    this.#ended = ended;
  }

  /** Milliseconds until a write may follow one that failed; undefined where none failed. */
  retryInMs(): number | undefined {
    const inMs = this.#retryAt - this.#clock.now();
    return inMs > 0 ? inMs : undefined;
  }

  /** Begins to write, unless nothing changed or a write is on its way. Never rejects. */
  async write(cluster: string, status: ClusterStatusApply): Promise<void> {
    const spelled = JSON.stringify({
      ...status,
      conditions: status.conditions.map(({ lastTransitionTime: _, ...rest }) => rest),
    });
    if (spelled === this.#written || this.#writing || this.retryInMs() !== undefined) return;
    this.#writing = true;
    try {
      await this.#inventory.applyClusterStatus(cluster, status);
      this.#written = spelled;
      this.#writing = false;
      this.#ended(undefined);
    } catch (error) {
      // It may have taken effect all the same: what the API server holds is not known any more.
      this.#written = undefined;
      this.#writing = false;
      this.#retryAt = this.#clock.now() + clusterStatusRetryMs;
      this.#ended(error);
    }
  }
}
