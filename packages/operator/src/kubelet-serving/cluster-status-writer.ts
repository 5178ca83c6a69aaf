import type { ClusterStatusApply, Inventory } from '@ichor/k8s-adapter';

/**
 * Writes the status of one TalosCluster, one write at a time and only where something changed.
 * Transition times alone are no change.
 */
export class ClusterStatusWriter {
  readonly #inventory: Pick<Inventory, 'applyClusterStatus'>;
  readonly #ended: (error: unknown) => void;
  #written: string | undefined;
  #writing = false;

  /** @param ended is called after each write, with what it failed with or with undefined */
  constructor(inventory: Pick<Inventory, 'applyClusterStatus'>, ended: (error: unknown) => void) {
    this.#inventory = inventory;
    this.#ended = ended;
  }

  /** Begins to write, unless nothing changed or a write is on its way. Never rejects. */
  async write(cluster: string, status: ClusterStatusApply): Promise<void> {
    const spelled = JSON.stringify({
      ...status,
      conditions: status.conditions.map(({ lastTransitionTime: _, ...rest }) => rest),
    });
    if (spelled === this.#written || this.#writing) return;
    this.#writing = true;
    try {
      await this.#inventory.applyClusterStatus(cluster, status);
      this.#written = spelled;
      this.#writing = false;
      this.#ended(undefined);
    } catch (error) {
      this.#writing = false;
      this.#ended(error);
    }
  }
}
