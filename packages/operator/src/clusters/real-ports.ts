import {
  connectInCluster,
  connectWithKubeconfig,
  connectWithKubeconfigFile,
  KubeconfigError,
  openInventory,
  openSigningCluster,
} from '@ichor/k8s-adapter';
import { createTalosClient, talosconfigFile } from '@ichor/talos-client';
import { systemClock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { OperatorPorts } from './operator-ports.ts';

/** How the operator reaches its own cluster and, by default, Talos. */
export interface RealPortsOptions {
  /** A kubeconfig file; undefined: as a pod of the cluster. */
  readonly kubeconfig: string | undefined;
  readonly namespace: string | undefined;
  /** A talosconfig file; it need not exist yet. */
  readonly talosconfig: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

/** Ports to real servers, or the sentence that says why there can be none. */
export type RealPorts =
  | { readonly kind: 'open'; readonly ports: OperatorPorts; readonly server: string }
  | { readonly kind: 'unusable'; readonly problem: string };

/** Opens the ports of an operator. Nothing is dialled before it starts. */
export function openRealPorts(options: RealPortsOptions): RealPorts {
  const { kubeconfig, env, logger } = options;
  const connect = () =>
    kubeconfig === undefined ? connectInCluster({ env }) : connectWithKubeconfigFile(kubeconfig);
  try {
    const connection = connect();
    for (const warning of connection.warnings) logger.warn(warning);
    const namespace = options.namespace ?? connection.namespace ?? 'ichor-system';
    const ports: OperatorPorts = {
      inventory: openInventory(connection, namespace),
      openOwnCluster: () => openSigningCluster(connect()),
      openCluster: (text, source) =>
        openSigningCluster(connectWithKubeconfig({ text, source, trusted: false })),
      defaultTalosAccess: talosconfigFile(options.talosconfig),
      createTalosClient: (access) => createTalosClient({ access }),
      clock: systemClock,
      random: Math.random,
      logger,
    };
    return { kind: 'open', ports, server: connection.server };
  } catch (error) {
    if (error instanceof KubeconfigError) return { kind: 'unusable', problem: error.message };
    throw error;
  }
}
