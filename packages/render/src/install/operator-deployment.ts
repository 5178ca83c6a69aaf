import { installLabels, type KubernetesObject } from '../kubernetes-object.ts';
import { operatorName } from '../rbac/operator-roles.ts';

/** The namespace, with the strictest Pod Security Standard enforced in it. */
export function operatorNamespace(namespace: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: namespace,
      labels: {
        ...installLabels,
        'pod-security.kubernetes.io/enforce': 'restricted',
        'pod-security.kubernetes.io/audit': 'restricted',
        'pod-security.kubernetes.io/warn': 'restricted',
      },
    },
  };
}

/** The identity that the operator runs with. Pods get its token only where they ask for it. */
export function operatorServiceAccount(
  namespace: string,
): KubernetesObject & { readonly automountServiceAccountToken: false } {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: operatorName, namespace, labels: installLabels },
    automountServiceAccountToken: false,
  };
}

/** Directory in which Talos's own clients look for the credential of a pod. */
const talosCredential = '/var/run/secrets/talos.dev';

/**
 * One replica that runs `ichor run`. The Secret `ichor-talos` (key `config`, a talosconfig) is
 * mounted where it exists; a TalosCluster may name one of its own instead.
 */
export function operatorDeployment(
  namespace: string,
  image: string,
): KubernetesObject & { readonly spec: Readonly<Record<string, unknown>> } {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: operatorName, namespace, labels: installLabels },
    spec: {
      replicas: 1,
      // Two operators would judge the same requests; the old one ends before the new one starts.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: installLabels },
      template: {
        metadata: { labels: installLabels },
        spec: {
          serviceAccountName: operatorName,
          automountServiceAccountToken: true,
          enableServiceLinks: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65532,
            runAsGroup: 65532,
            fsGroup: 65532,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          // Clusters whose only nodes are control planes need the operator, too.
          tolerations: [
            {
              key: 'node-role.kubernetes.io/control-plane',
              operator: 'Exists',
              effect: 'NoSchedule',
            },
          ],
          containers: [
            {
              name: operatorName,
              image,
              args: ['run', '--namespace', namespace],
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              resources: {
                requests: { cpu: '50m', memory: '256Mi' },
                limits: { memory: '512Mi' },
              },
              volumeMounts: [{ name: 'talos', mountPath: talosCredential, readOnly: true }],
            },
          ],
          volumes: [
            {
              name: 'talos',
              // 0440 for the group above. YAML readers disagree about octal numbers, so decimal.
              secret: { secretName: 'ichor-talos', optional: true, defaultMode: 288 },
            },
          ],
        },
      },
    },
  };
}
