import {
  type ApiServerArguments,
  type ApiServerSettings,
  apiServerArguments,
} from './api-server-settings.ts';

/**
 * Talos's `KubeAPIServerConfig` document or a patch of it, which may leave the image out; for control planes
 * only. (Talos 1.14, `pkg/machinery/config/types/k8s/apiserver.go`)
 */
export interface KubeApiServerConfig {
  readonly apiVersion: 'v1alpha1';
  readonly kind: 'KubeAPIServerConfig';
  readonly image?: string;
  readonly extraArgs?: ApiServerArguments;
}

/** The document or patch with these settings; undefined where a patch would say nothing. */
export function kubeApiServerConfig(settings: ApiServerSettings): KubeApiServerConfig | undefined {
  const { image } = settings;
  const extraArgs = apiServerArguments(settings);
  if (image === undefined && extraArgs === undefined) return undefined;
  return {
    apiVersion: 'v1alpha1',
    kind: 'KubeAPIServerConfig',
    ...(image === undefined ? {} : { image }),
    ...(extraArgs === undefined ? {} : { extraArgs }),
  };
}
