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
