export {
  connectInCluster,
  connectWithKubeconfig,
  connectWithKubeconfigFile,
  type InClusterSource,
  type KubeConnection,
} from './connection.ts';
export type { ApiAnswer, ApiRequest, ConnectionSettings } from './http-transport.ts';
export type {
  ClusterStatusApply,
  Inventory,
  MachineEvent,
  MachineStatusApply,
} from './inventory.ts';
export { KubeError, type KubeErrorCode } from './kube-error.ts';
export { isKubeObject, type KubeObject } from './kube-object.ts';
export { KubeconfigError, type KubeconfigSource } from './kubeconfig.ts';
export type { ObjectChange, ObjectWatch } from './object-watch.ts';
export { type InventorySettings, openInventory } from './open-inventory.ts';
export { openSigningCluster } from './open-signing-cluster.ts';
export { parseTalosCluster, talosClusterSpec } from './parse-talos-cluster.ts';
export { parseTalosMachine, talosMachineSpec } from './parse-talos-machine.ts';
export { kubeletServingSigner, receiveRequest } from './received-request.ts';
export type { ReflectorTiming } from './reflector.ts';
export type {
  DecisionCondition,
  DecisionOutcome,
  ReceivedRequest,
  SigningCluster,
} from './signing-cluster.ts';
export type {
  Condition,
  InvalidObject,
  MachineIdentity,
  ObjectIdentity,
  Parsed,
  ServingCertificateRecord,
  TalosCluster,
  TalosClusterStatus,
  TalosMachine,
  TalosMachineStatus,
} from './talos-objects.ts';
