import { encodeYaml } from '../encode.ts';

/** What a test changes in a machine configuration. */
export interface MachineConfigChanges {
  readonly type?: string;
  /** Fields of the kubelet: of the document, or of `.machine.kubelet`. */
  readonly kubelet?: object;
  /** Fields of kube-apiserver: of the document, or of `.cluster.apiServer`. */
  readonly apiServer?: object;
}

/** A configuration as Talos before 1.14 has it. */
export function legacyConfig({
  type = 'controlplane',
  kubelet = {},
  apiServer = {},
}: MachineConfigChanges = {}): string {
  return encodeYaml([
    {
      version: 'v1alpha1',
      machine: { type, kubelet: { image: 'example/kubelet:v1.34.2', ...kubelet } },
      cluster: {
        clusterName: 'lab',
        ...(type === 'worker'
          ? {}
          : { apiServer: { image: 'example/kube-apiserver:v1.34.2', ...apiServer } }),
      },
    },
  ]);
}

/** A configuration as Talos 1.14 generates it. */
export function documentConfig({
  type = 'controlplane',
  kubelet = {},
  apiServer = {},
}: MachineConfigChanges = {}): string {
  const meta = { apiVersion: 'v1alpha1' };
  return encodeYaml([
    { version: 'v1alpha1', machine: { type }, cluster: { etcd: {} } },
    { ...meta, kind: 'KubeletConfig', image: 'example/kubelet:v1.37.0', config: {}, ...kubelet },
    ...(type === 'worker'
      ? []
      : [
          {
            ...meta,
            kind: 'KubeAPIServerConfig',
            image: 'example/kube-apiserver:v1.37.0',
            ...apiServer,
          },
        ]),
  ]);
}
