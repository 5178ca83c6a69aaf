import type { ConfigSpec } from './config-spec.ts';
import type { Problem } from './problem.ts';
import { problemAt, quoted } from './problem.ts';

/** Images of whole documents. */
export interface ComponentImages {
  readonly kubelet: string;
  readonly apiServer: string;
}

/**
 * The images that whole documents name: those given, else Talos's own for the version of Kubernetes.
 * (`KubeletImage` and `KubernetesAPIServerImage` in Talos's `pkg/machinery/constants`)
 */
export function componentImages({
  images,
  kubernetesVersion,
}: ConfigSpec): ComponentImages | Problem {
  const { kubelet, apiServer } = images ?? {};
  for (const [component, image] of Object.entries({ kubelet, apiServer })) {
    // Talos reads the version out of the tag and refuses an image that has none.
    if (image !== undefined && !/^\S+:v[0-9]+\.[0-9]+\.[0-9]+\S*$/.test(image)) {
      return problemAt(
        `images.${component}`,
        `is ${quoted(image)}; it must end in a tag with a version, such as :v1.37.2.`,
      );
    }
  }
  if (kubelet !== undefined && apiServer !== undefined) return { kubelet, apiServer };
  if (kubernetesVersion === undefined) {
    return problemAt(
      'spec.kubernetes.version',
      'is missing; whole documents name images, which are made of it.',
    );
  }
  const [, version] =
    /^v?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?)$/.exec(kubernetesVersion) ?? [];
  if (version === undefined) {
    return problemAt(
      'spec.kubernetes.version',
      `is ${quoted(kubernetesVersion)}; it must be a version such as v1.37.2.`,
    );
  }
  return {
    kubelet: kubelet ?? `ghcr.io/siderolabs/kubelet:v${version}`,
    apiServer: apiServer ?? `registry.k8s.io/kube-apiserver:v${version}`,
  };
}
