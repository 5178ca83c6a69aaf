import { hostname } from 'node:os';
import {
  CoreV1Api,
  CustomObjectsApi,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { callApi } from './call-api.ts';
import type { KubeConnection } from './connection.ts';
import { eventRecorder } from './event-recorder.ts';
import type { Inventory } from './inventory.ts';
import { apiGroup, apiVersion } from './object-fields.ts';
import { parseTalosCluster } from './parse-talos-cluster.ts';
import { parseTalosMachine } from './parse-talos-machine.ts';
import { openReflector, type ReflectorTiming } from './reflector.ts';

/** Owner of the status fields, as `kubectl get --show-managed-fields` shows it. */
const fieldManager = 'ichor';

/** How an inventory is opened beside its connection and namespace. */
export interface InventorySettings {
  /** Name of this process in Events; the host name (in a pod: the pod's name) if absent. */
  readonly instance?: string;
  readonly timing?: Partial<ReflectorTiming>;
}

/**
 * Follows the TalosClusters and TalosMachines of one namespace. Closing it ends the watches and
 * closes the connection.
 */
export function openInventory(
  connection: KubeConnection,
  namespace: string,
  settings: InventorySettings = {},
): Inventory {
  const collection = (plural: string) =>
    `/apis/${apiGroup}/${apiVersion}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  const timing = settings.timing ?? {};
  const clusters = openReflector({
    connection,
    path: collection('talosclusters'),
    what: `TalosClusters of namespace ${namespace}`,
    translate: parseTalosCluster,
    timing,
  });
  const machines = openReflector({
    connection,
    path: collection('talosmachines'),
    what: `TalosMachines of namespace ${namespace}`,
    translate: parseTalosMachine,
    timing,
  });
  const recorder = eventRecorder(connection, namespace, settings.instance ?? hostname());

  const applyStatus = async (kind: string, plural: string, name: string, status: unknown) => {
    await callApi(`Applying the status of ${kind} ${namespace}/${name}`, () =>
      connection.api(CustomObjectsApi).patchNamespacedCustomObjectStatus(
        {
          group: apiGroup,
          version: apiVersion,
          namespace,
          plural,
          name,
          fieldManager,
          force: true,
          body: {
            apiVersion: `${apiGroup}/${apiVersion}`,
            kind,
            metadata: { name, namespace },
            status,
          },
        },
        setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
      ),
    );
  };

  return {
    namespace,
    clusters: clusters.list,
    machines: machines.list,

    async readSecret(name) {
      const secret = await callApi(`Reading Secret ${namespace}/${name}`, () =>
        connection.api(CoreV1Api).readNamespacedSecret({ name, namespace }),
      );
      return new Map(
        Object.entries(secret.data ?? {}).map(([key, value]) => [
          key,
          new Uint8Array(Buffer.from(value, 'base64')),
        ]),
      );
    },

    applyClusterStatus: (name, status) =>
      applyStatus('TalosCluster', 'talosclusters', name, status),
    applyMachineStatus: (name, status) =>
      applyStatus('TalosMachine', 'talosmachines', name, status),
    recordEvent: (event) => recorder.record(event),

    close() {
      clusters.close();
      machines.close();
      connection.close();
    },
  };
}
