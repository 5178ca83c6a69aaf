export type { ChangeEffect, FieldChange } from './config/changes-of.ts';
export { changesOf } from './config/changes-of.ts';
export type { ConfigSpec } from './config/config-spec.ts';
export {
  acceptedAuthoritiesFile,
  kubeletAuthorityFlag,
} from './config/documents/api-server-settings.ts';
export type { ConfigDocument } from './config/documents/config-document.ts';
export type { KubeApiServerConfig } from './config/documents/kube-api-server-config.ts';
export type { KubeletConfig } from './config/documents/kubelet-config.ts';
export type { PatchDelete } from './config/documents/patch-delete.ts';
export type { V1alpha1Config } from './config/documents/v1alpha1-config.ts';
export type {
  ComponentShape,
  LiveComponent,
  LiveConfig,
  LiveKubelet,
  MachineType,
} from './config/live/live-config.ts';
export type { ReadLiveConfig } from './config/live/shape-of.ts';
export { shapeOf } from './config/live/shape-of.ts';
export type { MergedConfig } from './config/merge-patch.ts';
export { mergePatch } from './config/merge-patch.ts';
export type { OptionInput, OptionState, ServingCertificatesSpec } from './config/option-state.ts';
export { optionState } from './config/option-state.ts';
export type { Problem } from './config/problem.ts';
export type { RenderedConfig } from './config/render-config.ts';
export { renderConfig } from './config/render-config.ts';
export type { VersionContract } from './config/version-contract.ts';
export {
  contractText,
  hasKubernetesDocuments,
  newestContract,
  oldestContract,
  parseContract,
} from './config/version-contract.ts';
export type {
  CustomResourceDefinition,
  PrinterColumn,
} from './crd/custom-resource-definition.ts';
export { apiGroup, apiVersion } from './crd/custom-resource-definition.ts';
export type { JsonSchema, ValidationRule } from './crd/json-schema.ts';
export { withDefaults } from './crd/json-schema.ts';
export { talosClusterCrd, talosClusterSchema } from './crd/talos-cluster-crd.ts';
export { talosMachineCrd, talosMachineSchema } from './crd/talos-machine-crd.ts';
export { encodeYaml } from './encode.ts';
export { deployFiles } from './install/deploy-files.ts';
export type { InstallOptions, InstallPart } from './install/install-manifest.ts';
export { installManifest, installParts } from './install/install-manifest.ts';
export {
  operatorDeployment,
  operatorNamespace,
  operatorServiceAccount,
} from './install/operator-deployment.ts';
export type { KubernetesObject } from './kubernetes-object.ts';
export type { PolicyRule, RbacBinding, RbacRole } from './rbac/operator-roles.ts';
export {
  operatorClusterRole,
  operatorClusterRoleBinding,
  operatorName,
  operatorRole,
  operatorRoleBinding,
} from './rbac/operator-roles.ts';
