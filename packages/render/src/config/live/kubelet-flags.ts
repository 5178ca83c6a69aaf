/** Flag that sets the same option of the kubelet as `serverTLSBootstrap` and wins over it. */
export const rotationFlag = 'rotate-server-certificates';

/** Gate without which the kubelet refuses to start with `serverTLSBootstrap`. */
export const rotationGate = 'RotateKubeletServerCertificate';

/** Flags with which the kubelet goes by another name or address than the node reports. */
export const identityFlags = ['hostname-override', 'node-ip'] as const;

/**
 * Fields of the kubelet's configuration file that Talos lets nobody set. An apply with one of them is refused.
 * (`ProtectedConfigurationFields` in Talos's `pkg/machinery/kubelet/kubelet.go`)
 */
export const protectedFields: readonly string[] = [
  'apiVersion',
  'authentication',
  'authorization',
  'cgroupRoot',
  'kind',
  'kubeletCgroups',
  'port',
  'protectKernelDefaults',
  'resolvConf',
  'rotateCertificates',
  'seccompDefault',
  'staticPodPath',
  'systemCgroups',
];

/** A truth value of a Go program's command line; undefined where the program would not start. (`strconv.ParseBool`) */
export function flagTruth(text: string): boolean | undefined {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  return undefined;
}
