import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../kubernetes-object.ts';
import { installManifest } from './install-manifest.ts';

const lines = (objects: readonly KubernetesObject[]): string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

const rbac = [
  'ServiceAccount ichor',
  'ClusterRole ichor',
  'ClusterRoleBinding ichor:ichor-system',
  'Role ichor',
  'RoleBinding ichor',
];
const crds = [
  'CustomResourceDefinition talosclusters.ichor.dev',
  'CustomResourceDefinition talosmachines.ichor.dev',
];

describe('installManifest', () => {
  it('lists everything in the order in which it can be created', () => {
    expect(lines(installManifest({ image: 'ichor:test' }))).toEqual([
      'Namespace ichor-system',
      ...crds,
      ...rbac,
      'Deployment ichor',
    ]);
  });

  it('lists the parts that are asked for, with the namespace where something lives in it', () => {
    expect(lines(installManifest({ only: ['crds'] }))).toEqual(crds);
    expect(lines(installManifest({ only: ['crds', 'rbac'] }))).toEqual([
      'Namespace ichor-system',
      ...crds,
      ...rbac,
    ]);
    expect(lines(installManifest({ only: ['deployment'], image: 'ichor:test' }))).toEqual([
      'Namespace ichor-system',
      'Deployment ichor',
    ]);
  });

  it('puts everything that is namespaced into the namespace', () => {
    const objects = installManifest({ image: 'ichor:test', namespace: 'elsewhere' });
    const namespaced = objects.filter(({ kind }) =>
      ['ServiceAccount', 'Role', 'RoleBinding', 'Deployment'].includes(kind),
    );
    expect(namespaced).toHaveLength(4);
    expect(namespaced.map(({ metadata }) => metadata.namespace)).toEqual(
      namespaced.map(() => 'elsewhere'),
    );
    expect(JSON.stringify(objects)).not.toContain('ichor-system');
  });

  it('binds each installation by an object of its own, to one role for all', () => {
    const bindings = ['ichor-system', 'elsewhere'].flatMap((namespace) =>
      installManifest({ image: 'ichor:test', namespace }).filter(
        ({ kind }) => kind === 'ClusterRoleBinding',
      ),
    );
    expect(bindings).toMatchObject(
      ['ichor-system', 'elsewhere'].map((namespace) => ({
        metadata: { name: `ichor:${namespace}` },
        roleRef: { kind: 'ClusterRole', name: 'ichor' },
        subjects: [{ kind: 'ServiceAccount', name: 'ichor', namespace }],
      })),
    );
  });

  it('holds only kinds that every cluster has', () => {
    const groups = new Set(installManifest({ image: 'ichor:test' }).map((o) => o.apiVersion));
    expect([...groups].sort()).toEqual([
      'apiextensions.k8s.io/v1',
      'apps/v1',
      'rbac.authorization.k8s.io/v1',
      'v1',
    ]);
  });

  it.each(['', 'Ichor', 'a b', 'a.b', '-a', 'a'.repeat(64)])(
    'refuses %j as a namespace, in a sentence that quotes it',
    (namespace) => {
      expect(() => installManifest({ namespace, only: ['rbac'] })).toThrow(
        `The namespace ${JSON.stringify(namespace)} is not a namespace name`,
      );
    },
  );

  it('accepts the longest namespace name', () => {
    const namespace = 'a'.repeat(63);
    expect(installManifest({ namespace, only: ['rbac'] })[0]?.metadata.name).toBe(namespace);
  });

  it.each([undefined, '', 'two words'])('refuses %j as an image', (image) => {
    const options = image === undefined ? {} : { image };
    expect(() => installManifest(options)).toThrow('needs the name of a container image');
  });
});

describe('the Deployment', () => {
  const deployment = installManifest({ image: 'ichor:test', namespace: 'ichor-system' }).at(-1);

  it('runs one operator, and never two at a time', () => {
    expect(deployment).toMatchObject({ spec: { replicas: 1, strategy: { type: 'Recreate' } } });
  });

  it('runs the image that was given, on the namespace that was given', () => {
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [{ image: 'ichor:test', args: ['run', '--namespace', 'ichor-system'] }],
          },
        },
      },
    });
  });

  it('meets the restricted Pod Security Standard, which its namespace enforces', () => {
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ['ALL'] },
                },
              },
            ],
          },
        },
      },
    });
    expect(installManifest({ only: ['rbac'] })[0]).toMatchObject({
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
  });

  it('takes a Talos credential where there is one', () => {
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              { volumeMounts: [{ name: 'talos', mountPath: '/var/run/secrets/talos.dev' }] },
            ],
            volumes: [{ name: 'talos', secret: { secretName: 'ichor-talos', optional: true } }],
          },
        },
      },
    });
  });
});
