import { type Inventory, KubeError, type TalosCluster } from '@ichor/k8s-adapter';
import {
  type AccessSource,
  accessOf,
  parseTalosconfig,
  type TalosAccess,
} from '@ichor/talos-client';
import type { Clock } from '../runtime/clock.ts';

/** Key of a Secret that holds a talosconfig; Talos writes its own Secrets under this key, too. */
export const talosconfigKey = 'config';
/** A Secret is read again after this, in milliseconds; Talos renews its own after five hours. */
const secretMs = 60_000;
/** While it is being read again, what was read before is used for this long, in milliseconds. */
const graceMs = 5 * 60_000;

/**
 * Talos credentials out of a Secret of the operator's namespace, read again every minute.
 *
 * The Secret is read once, whoever asks meanwhile: those that come after the one who began go on
 * with what was read before. A node has seconds to answer, and reading a Secret behind many other
 * calls may take as long.
 *
 * `current` rejects with KubeError or TalosconfigError, each naming the Secret.
 */
export function accessFromSecret(
  inventory: Pick<Inventory, 'namespace' | 'readSecret'>,
  secret: string,
  clock: Clock,
): AccessSource {
  let known: { readonly access: TalosAccess; readonly readAt: number } | undefined;
  let reading: Promise<TalosAccess> | undefined;
  const read = async (): Promise<TalosAccess> => {
    try {
      const text = await secretText(inventory, secret, talosconfigKey);
      const source = `Secret ${inventory.namespace}/${secret}, key ${talosconfigKey}`;
      known = { access: accessOf(parseTalosconfig(text, source)), readAt: clock.now() };
      return known.access;
    } catch (error) {
      // Credentials that were taken away must not live on.
      if (!(error instanceof KubeError && error.code === 'unavailable')) known = undefined;
      throw error;
    } finally {
      reading = undefined;
    }
  };
  return {
    current: async () => {
      const age = known === undefined ? Number.POSITIVE_INFINITY : clock.now() - known.readAt;
      const isUsable = age < secretMs || (reading !== undefined && age < graceMs);
      if (known !== undefined && isUsable) return known.access;
      reading ??= read();
      return reading;
    },
  };
}

/** The same credentials with the endpoints that the TalosCluster states, where it states any. */
export function withEndpointsOf(source: AccessSource, cluster: () => TalosCluster): AccessSource {
  return {
    current: async () => {
      const access = await source.current();
      const { endpoints } = cluster().spec.talos;
      return endpoints.length === 0 ? access : { ...access, endpoints };
    },
  };
}

/**
 * One key of a Secret as text.
 *
 * @throws KubeError where the Secret cannot be read, Error where it lacks the key
 */
export async function secretText(
  inventory: Pick<Inventory, 'namespace' | 'readSecret'>,
  secret: string,
  key: string,
): Promise<string> {
  const value = (await inventory.readSecret(secret)).get(key);
  if (value === undefined) {
    throw new Error(
      `Secret ${inventory.namespace}/${secret} has no key ${JSON.stringify(key)}; add it.`,
    );
  }
  return new TextDecoder().decode(value);
}
