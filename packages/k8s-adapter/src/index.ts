export type {
  ClusterStatusApply,
  Inventory,
  MachineEvent,
  MachineStatusApply,
} from './inventory.ts';
export { KubeError, type KubeErrorCode } from './kube-error.ts';
export type { ObjectChange, ObjectWatch } from './object-watch.ts';
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
