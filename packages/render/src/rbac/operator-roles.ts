import { installLabels, type KubernetesObject } from '../kubernetes-object.ts';

/** One rule of a role. Every verb is granted on every resource of every group in it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Absent: every name. */
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** A `rbac.authorization.k8s.io/v1` Role or ClusterRole. */
export interface RbacRole extends KubernetesObject {
  readonly apiVersion: 'rbac.authorization.k8s.io/v1';
  readonly kind: 'Role' | 'ClusterRole';
  readonly rules: readonly PolicyRule[];
}

/** A `rbac.authorization.k8s.io/v1` RoleBinding or ClusterRoleBinding. */
export interface RbacBinding extends KubernetesObject {
  readonly apiVersion: 'rbac.authorization.k8s.io/v1';
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding';
  readonly roleRef: {
    readonly apiGroup: 'rbac.authorization.k8s.io';
    readonly kind: 'Role' | 'ClusterRole';
    readonly name: string;
  };
  readonly subjects: readonly {
    readonly kind: 'ServiceAccount';
    readonly name: string;
    readonly namespace: string;
  }[];
}

/** Name of the operator's ServiceAccount, roles, bindings and Deployment. */
export const operatorName = 'ichor';

/**
 * What the operator may do in the whole cluster whose kubelets it serves: watch CSRs, write the
 * approval of CSRs of one signer, and read which cluster it is in.
 *
 * Both certificate rules are needed: the endpoint checks `update` on the subresource, the admission
 * plug-in CertificateApproval checks `approve` on the signer (which covers denying, too).
 */
export function operatorClusterRole(): RbacRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: operatorName, labels: installLabels },
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests/approval'],
        verbs: ['update'],
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['kubernetes.io/kubelet-serving'],
        verbs: ['approve'],
      },
      // Its UID tells one cluster from another.
      {
        apiGroups: [''],
        resources: ['namespaces'],
        resourceNames: ['kube-system'],
        verbs: ['get'],
      },
    ],
  };
}

/**
 * What the operator may do in its own namespace: read the inventory and the Secrets that it names,
 * write status and Events. Secrets cannot be listed: only those that a TalosCluster names are read.
 */
export function operatorRole(namespace: string): RbacRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: operatorName, namespace, labels: installLabels },
    rules: [
      {
        apiGroups: ['ichor.dev'],
        resources: ['talosclusters', 'talosmachines'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['ichor.dev'],
        resources: ['talosclusters/status', 'talosmachines/status'],
        verbs: ['patch'],
      },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
    ],
  };
}

const subjects = (namespace: string): RbacBinding['subjects'] => [
  { kind: 'ServiceAccount', name: operatorName, namespace },
];

/**
 * Binds the ClusterRole to the operator's ServiceAccount. The name holds the namespace, so that a
 * second installation takes nothing from the first.
 */
export function operatorClusterRoleBinding(namespace: string): RbacBinding {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${operatorName}:${namespace}`, labels: installLabels },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: operatorName },
    subjects: subjects(namespace),
  };
}

/** Binds the Role to the operator's ServiceAccount. */
export function operatorRoleBinding(namespace: string): RbacBinding {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: operatorName, namespace, labels: installLabels },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: operatorName },
    subjects: subjects(namespace),
  };
}
