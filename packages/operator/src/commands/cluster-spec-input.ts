import { parseTalosCluster, type TalosCluster } from '@ichor/k8s-adapter';
import { UsageError } from './exit-code.ts';

/**
 * Takes a TalosCluster as it is written, or as `kubectl get taloscluster NAME -o yaml` prints it. It need not be
 * stored yet: what the API server adds may be missing.
 *
 * @throws UsageError naming the file and the field
 */
export function talosClusterOf(value: unknown, path: string): TalosCluster {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${path} holds no object; give a TalosCluster as YAML or JSON.`);
  }
  const { kind, spec } = value as { readonly kind?: unknown; readonly spec?: unknown };
  if (kind !== 'TalosCluster' || typeof spec !== 'object' || spec === null) {
    const what = typeof kind === 'string' ? `a ${kind}` : 'an object without a kind';
    throw new UsageError(
      kind === 'TalosCluster'
        ? `${path} has no spec; give the whole TalosCluster.`
        : `${path} holds ${what}; give one TalosCluster.`,
    );
  }
  const parsed = parseTalosCluster(value as Parameters<typeof parseTalosCluster>[0]);
  if (parsed.kind === 'invalid') throw new UsageError(`${path}: ${parsed.value.problem}`);
  return parsed.value;
}
