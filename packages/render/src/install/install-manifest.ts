import { talosClusterCrd } from '../crd/talos-cluster-crd.ts';
import { talosMachineCrd } from '../crd/talos-machine-crd.ts';
import type { KubernetesObject } from '../kubernetes-object.ts';
import {
  operatorClusterRole,
  operatorClusterRoleBinding,
  operatorRole,
  operatorRoleBinding,
} from '../rbac/operator-roles.ts';
import {
  operatorDeployment,
  operatorNamespace,
  operatorServiceAccount,
} from './operator-deployment.ts';

/**
 * Parts of an installation: the two CustomResourceDefinitions; the ServiceAccount, roles and
 * bindings; the Deployment. The namespace comes with whatever lives in it.
 */
export const installParts = ['crds', 'rbac', 'deployment'] as const;

/** One part of an installation. */
export type InstallPart = (typeof installParts)[number];

/** What to install. */
export interface InstallOptions {
  /** Namespace of the operator and of the objects that it watches. Default `ichor-system`. */
  readonly namespace?: string;
  /** Container image; needed for the part `deployment`. */
  readonly image?: string;
  /** Default: all parts. */
  readonly only?: readonly InstallPart[];
}

const namespaceName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The objects of an installation, in an order in which `kubectl apply -f -` can create them in one
 * go. They are of kinds that every Kubernetes cluster has.
 *
 * @throws RangeError with one sentence where the namespace is no namespace name, or where the
 * Deployment is asked for without an image.
 */
export function installManifest(options: InstallOptions): readonly KubernetesObject[] {
  const { namespace = 'ichor-system', image, only = installParts } = options;
  if (!namespaceName.test(namespace)) {
    throw new RangeError(
      `The namespace ${JSON.stringify(namespace)} is not a namespace name: use lower-case letters, digits and hyphens.`,
    );
  }
  const objects: KubernetesObject[] = [];
  if (only.includes('rbac') || only.includes('deployment')) {
    objects.push(operatorNamespace(namespace));
  }
  if (only.includes('crds')) objects.push(talosClusterCrd(), talosMachineCrd());
  if (only.includes('rbac')) {
    objects.push(
      operatorServiceAccount(namespace),
      operatorClusterRole(),
      operatorClusterRoleBinding(namespace),
      operatorRole(namespace),
      operatorRoleBinding(namespace),
    );
  }
  if (only.includes('deployment')) {
    if (image === undefined || !/^\S+$/.test(image)) {
      throw new RangeError(
        'The Deployment needs the name of a container image: give an image, or leave the Deployment out.',
      );
    }
    objects.push(operatorDeployment(namespace, image));
  }
  return objects;
}
