import type { KubeApiServerConfig } from './kube-api-server-config.ts';
import type { KubeletConfig } from './kubelet-config.ts';
import type { V1alpha1Config } from './v1alpha1-config.ts';

/** A document, or a patch of one, that is rendered here. Only fields that rendering owns are ever in it. */
export type ConfigDocument = KubeletConfig | KubeApiServerConfig | V1alpha1Config;

/** The kind of a document of a machine configuration; the `v1alpha1` document has none of its own. */
export function kindOf(document: object): string {
  return 'kind' in document && typeof document.kind === 'string' ? document.kind : 'v1alpha1';
}

/** A field as messages write it: from the kind, or from the root of the `v1alpha1` document. */
export function fieldPath(kind: string, keys: readonly string[]): string {
  const path = keys.map((key) => (/^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`));
  return `${kind === 'v1alpha1' ? '' : kind}${path.join('')}`;
}
