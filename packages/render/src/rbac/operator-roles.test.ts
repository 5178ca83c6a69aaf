import { describe, expect, it } from 'vitest';
import { installManifest } from '../install/install-manifest.ts';
import type { KubernetesObject } from '../kubernetes-object.ts';
import type { PolicyRule, RbacBinding, RbacRole } from './operator-roles.ts';

const manifest = installManifest({ image: 'ichor:test', namespace: 'ichor-system' });

const isRole = (object: KubernetesObject): object is RbacRole =>
  object.kind === 'Role' || object.kind === 'ClusterRole';
const isBinding = (object: KubernetesObject): object is RbacBinding =>
  object.kind === 'RoleBinding' || object.kind === 'ClusterRoleBinding';

/** One line per right: `verb group/resource[name]`; every name is `*`. */
const rights = (rules: readonly PolicyRule[]): string[] =>
  rules
    .flatMap(({ apiGroups, resources, resourceNames = ['*'], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) =>
            verbs.map((verb) => `${verb} ${group || 'core'}/${resource}[${name}]`),
          ),
        ),
      ),
    )
    .sort();

const touchesCertificates = (right: string): boolean =>
  right.includes(' certificates.k8s.io/') || right.includes(' */');

const allowed = [
  'approve certificates.k8s.io/signers[kubernetes.io/kubelet-serving]',
  'get certificates.k8s.io/certificatesigningrequests[*]',
  'list certificates.k8s.io/certificatesigningrequests[*]',
  'update certificates.k8s.io/certificatesigningrequests/approval[*]',
  'watch certificates.k8s.io/certificatesigningrequests[*]',
];

const certificateRights = (objects: readonly KubernetesObject[]): string[] =>
  objects
    .filter(isRole)
    .flatMap((role) => rights(role.rules))
    .filter(touchesCertificates)
    .sort();

describe('what an installation grants on certificates.k8s.io', () => {
  it('is exactly: watch requests, update approvals, approve for one signer', () => {
    expect(certificateRights(manifest)).toEqual(allowed);
  });

  it.each<[string, PolicyRule]>([
    [
      'sign',
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['kubernetes.io/kubelet-serving'],
        verbs: ['sign'],
      },
    ],
    [
      'another signer',
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['kubernetes.io/kube-apiserver-client-kubelet'],
        verbs: ['approve'],
      },
    ],
    [
      'every signer',
      { apiGroups: ['certificates.k8s.io'], resources: ['signers'], verbs: ['approve'] },
    ],
    [
      'create',
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests'],
        verbs: ['create'],
      },
    ],
    ['every group', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  ])('would not be that with one rule more: %s', (_, rule) => {
    const widened: RbacRole = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'more' },
      rules: [rule],
    };
    expect(certificateRights([...manifest, widened])).not.toEqual(allowed);
  });
});

describe('what an installation grants beside that', () => {
  const granted = (kind: RbacRole['kind']): string[] =>
    manifest
      .filter(isRole)
      .filter((role) => role.kind === kind)
      .flatMap((role) => rights(role.rules))
      .filter((right) => !touchesCertificates(right));

  it('is one name in the whole cluster', () => {
    expect(granted('ClusterRole')).toEqual(['get core/namespaces[kube-system]']);
  });

  it('is the inventory, its status, Events and single Secrets in the namespace', () => {
    expect(granted('Role')).toEqual([
      'create events.k8s.io/events[*]',
      'get core/secrets[*]',
      'get ichor.dev/talosclusters[*]',
      'get ichor.dev/talosmachines[*]',
      'list ichor.dev/talosclusters[*]',
      'list ichor.dev/talosmachines[*]',
      'patch events.k8s.io/events[*]',
      'patch ichor.dev/talosclusters/status[*]',
      'patch ichor.dev/talosmachines/status[*]',
      'watch ichor.dev/talosclusters[*]',
      'watch ichor.dev/talosmachines[*]',
    ]);
  });

  it('goes to the ServiceAccount of the operator and nobody else', () => {
    const bindings = manifest.filter(isBinding);
    expect(bindings.map(({ kind, roleRef }) => `${kind} ${roleRef.kind}/${roleRef.name}`)).toEqual([
      'ClusterRoleBinding ClusterRole/ichor',
      'RoleBinding Role/ichor',
    ]);
    for (const { subjects } of bindings) {
      expect(subjects).toEqual([
        { kind: 'ServiceAccount', name: 'ichor', namespace: 'ichor-system' },
      ]);
    }
  });
});
