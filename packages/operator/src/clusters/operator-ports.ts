import type { Inventory, SigningCluster } from '@ichor/k8s-adapter';
import type { AccessSource, TalosClient } from '@ichor/talos-client';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';

/** Everything that the operator reaches the world through. */
export interface OperatorPorts {
  readonly inventory: Inventory;
  /** Opens the cluster that the operator itself is connected to. */
  openOwnCluster(): SigningCluster;
  /**
   * Opens a cluster by the kubeconfig out of a Secret.
   *
   * @param source names the Secret in errors
   * @throws KubeconfigError where the text cannot be used
   */
  openCluster(kubeconfig: string, source: string): SigningCluster;
  /** Talos credentials for clusters that name no Secret. */
  readonly defaultTalosAccess: AccessSource;
  createTalosClient(access: AccessSource): TalosClient;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
}
