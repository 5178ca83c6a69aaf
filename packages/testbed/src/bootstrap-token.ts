import { randomBytes } from 'node:crypto';
import { createObject } from './kube-objects.ts';
import type { KubeRequester } from './kube-request.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const bootstrappers = 'system:bootstrappers:nodes';

/**
 * Creates a bootstrap token and the bindings with which a kubelet gets from it to a client certificate and
 * renews that: asking (`system:node-bootstrapper`), and being approved by the controller manager
 * (`…:nodeclient`, `…:selfnodeclient`). Bindings that exist already stay.
 *
 * @returns the token as a kubelet uses it, `id.secret`.
 */
export async function createBootstrapToken(admin: KubeRequester): Promise<string> {
  const id = randomBytes(3).toString('hex');
  const secret = randomBytes(8).toString('hex');
  await createObject(admin, '/api/v1/namespaces/kube-system/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': bootstrappers,
    },
  });
  const requests = 'system:certificates.k8s.io:certificatesigningrequests';
  await Promise.all([
    bind(admin, 'testbed:node-bootstrapper', 'system:node-bootstrapper', bootstrappers),
    bind(admin, 'testbed:approve-node-client', `${requests}:nodeclient`, bootstrappers),
    bind(admin, 'testbed:approve-node-renewal', `${requests}:selfnodeclient`, 'system:nodes'),
  ]);
  return `${id}.${secret}`;
}

function bind(admin: KubeRequester, name: string, role: string, group: string): Promise<unknown> {
  return createObject(admin, rbac, clusterRoleBinding(name, role, { kind: 'Group', name: group }));
}

/** A ClusterRoleBinding of one user or group. */
export function clusterRoleBinding(
  name: string,
  role: string,
  subject: { readonly kind: 'User' | 'Group'; readonly name: string },
): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }],
  };
}
