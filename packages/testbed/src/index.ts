export { type AccessAnswer, mayI, type ResourceAccess, rightsOf } from './access-review.ts';
export type { CertificateAuthority, KeyPairPem, SubjectNames } from './certificate-authority.ts';
export { createServingRequest } from './certificate-authority.ts';
export { runIchor } from './command-line.ts';
export type { Etcd } from './etcd.ts';
export { eventually, type NotYet, notYet } from './eventually.ts';
export { buildPart, buildParts, cacheDirectory } from './go-build.ts';
export { type PartName, partNames, type TalosConfigPart } from './go-parts.ts';
export type { InCluster } from './in-cluster.ts';
export {
  clearInventory,
  clusterCondition,
  clusterPath,
  machineEvent,
  machinePath,
  patchObject,
  readObject,
} from './inventory-objects.ts';
export type { Apiserver, ApiserverOptions } from './kube-apiserver.ts';
export type { ControllerManager } from './kube-controller-manager.ts';
export { type NewRequest, requestObject } from './kube-objects.ts';
export type { KubeRequest, KubeRequester, KubeResponse, Requester } from './kube-request.ts';
export type { CommandResult } from './kubectl.ts';
export type { Kubelet, KubeletOptions } from './kubelet.ts';
export { honestRequest, labNode, virtualAddress } from './lab-machines.ts';
export {
  createCluster,
  customResourcesServed,
  installOperator,
  type MachineSpec,
  machineObject,
  type OperatorLogLine,
  type OperatorProcess,
  operatorNamespace,
  setOptions,
  startOperator,
} from './operator-process.ts';
export type { PartProcess } from './part-process.ts';
export {
  ask,
  askOver,
  certificateOf,
  type DecisionCondition,
  decisionOf,
  decisionsSince,
  flood,
  letCreateRequests,
  nodeUser,
  readRequest,
  revisionNow,
  type StoredRequest,
  type WrittenDecision,
} from './serving-requests.ts';
export {
  type GenerateCase,
  type TalosConfigAnswer,
  type TalosConfigLibrary,
  talosConfigLibrary,
} from './talos-config.ts';
export {
  type GrpcCode,
  type TalosCall,
  type TalosCertificateMode,
  type TalosCounters,
  type TalosCredential,
  type TalosNodeFields,
  type TalosNodeSpec,
  type TalosNodes,
  tearingDown,
} from './talos-nodes.ts';
export { startTcpRelay, type TcpRelay } from './tcp-relay.ts';
export { startTestbed, type Testbed, type TestbedOptions, type TestbedUser } from './testbed.ts';
export type { Handshake } from './tls-handshake.ts';
