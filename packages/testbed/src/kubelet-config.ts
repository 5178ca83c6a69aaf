import { existsSync } from 'node:fs';

/** What differs between the kubelets of a testbed. */
export type KubeletSettings = {
  /** Listening address, one per kubelet. */
  readonly address: string;
  /** Unix socket of the container runtime. */
  readonly runtimeSocket: string;
  /** Directory for pod logs. */
  readonly podLogs: string;
  /** Directory for volume plugins. */
  readonly volumePlugins: string;
  /** PEM file with the CA of clients. */
  readonly clientCa: string;
  /** Ask the cluster for a serving certificate instead of signing one at start. */
  readonly serverTLSBootstrap: boolean;
  /** Whether the host has cgroup v1, which a kubelet refuses unless told otherwise. */
  readonly cgroupV1: boolean;
};

/** Port on which every kubelet of a testbed serves; each has an address of its own. */
export const kubeletPort = 10_250;

/** Whether `/sys/fs/cgroup` is a cgroup v1 hierarchy: only v2 has this file at its root. */
export const hasCgroupV1 = (): boolean => !existsSync('/sys/fs/cgroup/cgroup.controllers');

/** A KubeletConfiguration (kubelet.config.k8s.io/v1beta1) for a kubelet that shares its machine with others. */
export function kubeletConfiguration(settings: KubeletSettings): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: settings.address,
    port: kubeletPort,
    serverTLSBootstrap: settings.serverTLSBootstrap,
    rotateCertificates: true,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: settings.clientCa },
    },
    authorization: { mode: 'Webhook' },
    containerRuntimeEndpoint: `unix://${settings.runtimeSocket}`,
    podLogsDir: settings.podLogs,
    volumePluginDir: settings.volumePlugins,
    // The machine is not this kubelet's: it may not make cgroups, want swap off or watch its disks.
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    ...(settings.cgroupV1 ? { failCgroupV1: false } : {}),
    localStorageCapacityIsolation: false,
    evictionHard: { 'memory.available': '1Mi' },
    healthzPort: 0,
    resolvConf: '',
  };
}
