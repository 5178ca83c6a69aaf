import {
  type ApiServerArguments,
  type ApiServerSettings,
  apiServerArguments,
} from './api-server-settings.ts';
import type { KubeletSettings } from './kubelet-settings.ts';

/**
 * The parts of Talos's `v1alpha1` document that say what the two documents say: the shape before Talos 1.14,
 * which later versions still take. (`pkg/machinery/config/types/v1alpha1/v1alpha1_types.go`)
 */
export interface V1alpha1Config {
  readonly version?: 'v1alpha1';
  readonly machine?: {
    readonly kubelet: {
      readonly image?: string;
      readonly extraConfig?: { readonly serverTLSBootstrap: boolean };
    };
  };
  readonly cluster?: {
    readonly apiServer: { readonly image?: string; readonly extraArgs?: ApiServerArguments };
  };
}

/** The fields with these settings; undefined where a patch would say nothing. */
export function v1alpha1Config(
  kubelet: KubeletSettings | undefined,
  apiServer: ApiServerSettings | undefined,
): V1alpha1Config | undefined {
  const machine = kubelet === undefined ? undefined : kubeletFields(kubelet);
  const cluster = apiServer === undefined ? undefined : apiServerFields(apiServer);
  if (machine === undefined && cluster === undefined) return undefined;
  return {
    version: 'v1alpha1',
    ...(machine === undefined ? {} : { machine: { kubelet: machine } }),
    ...(cluster === undefined ? {} : { cluster: { apiServer: cluster } }),
  };
}

function kubeletFields({ image, serverTLSBootstrap }: KubeletSettings) {
  if (image === undefined && serverTLSBootstrap === undefined) return undefined;
  return {
    ...(image === undefined ? {} : { image }),
    ...(serverTLSBootstrap === undefined ? {} : { extraConfig: { serverTLSBootstrap } }),
  };
}

function apiServerFields(settings: ApiServerSettings) {
  const { image } = settings;
  const extraArgs = apiServerArguments(settings);
  if (image === undefined && extraArgs === undefined) return undefined;
  return {
    ...(image === undefined ? {} : { image }),
    ...(extraArgs === undefined ? {} : { extraArgs }),
  };
}
