import type { KubeletSettings } from './kubelet-settings.ts';

/**
 * Talos's `KubeletConfig` document or a patch of it, which may leave the image out. `config` is merged into the
 * kubelet's own configuration file. (Talos 1.14, `pkg/machinery/config/types/k8s/kubelet.go`)
 */
export interface KubeletConfig {
  readonly apiVersion: 'v1alpha1';
  readonly kind: 'KubeletConfig';
  readonly image?: string;
  readonly config?: { readonly serverTLSBootstrap?: boolean };
  readonly defaultRuntimeSeccompProfileEnabled?: true;
}

/** The document or patch with these settings; undefined where a patch would say nothing. */
export function kubeletConfig({
  image,
  serverTLSBootstrap,
}: KubeletSettings): KubeletConfig | undefined {
  const meta = { apiVersion: 'v1alpha1', kind: 'KubeletConfig' } as const;
  const config = serverTLSBootstrap === undefined ? {} : { serverTLSBootstrap };
  if (image === undefined)
    return serverTLSBootstrap === undefined ? undefined : { ...meta, config };
  // As Talos generates it: without the profile a whole document would loosen every container of the node.
  return { ...meta, image, config, defaultRuntimeSeccompProfileEnabled: true };
}
