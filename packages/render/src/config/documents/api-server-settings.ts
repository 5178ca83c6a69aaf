import type { PatchDelete } from './patch-delete.ts';

/** Flag that makes kube-apiserver verify kubelets. */
export const kubeletAuthorityFlag = 'kubelet-certificate-authority';

/**
 * File with every accepted CA of the cluster, as kube-apiserver finds it on a Talos control plane. The file that
 * kube-controller-manager signs with holds the issuing CA only, so that certificates from before a rotation
 * would not verify. (Talos's `controllers/k8s/render_secrets_static_pod.go`)
 */
export const acceptedAuthoritiesFile = '/system/secrets/kubernetes/kube-apiserver/ca.crt';

/** Arguments of kube-apiserver that rendering owns. */
export type ApiServerArguments = {
  readonly [kubeletAuthorityFlag]?: string | PatchDelete;
};

/** What rendering has to say about kube-apiserver, in whichever shape. */
export interface ApiServerSettings {
  /** Image of a whole document; a patch has none. */
  readonly image: string | undefined;
  /** `verify` renders the flag, `delete` takes it away; undefined says nothing about it. */
  readonly kubeletAuthority: 'verify' | 'delete' | undefined;
}

/** The arguments with these settings; undefined where there are none. */
export function apiServerArguments({
  kubeletAuthority,
}: ApiServerSettings): ApiServerArguments | undefined {
  switch (kubeletAuthority) {
    case 'verify':
      return { [kubeletAuthorityFlag]: acceptedAuthoritiesFile };
    case 'delete':
      return { [kubeletAuthorityFlag]: { $patch: 'delete' } };
    case undefined:
      return undefined;
  }
}
