import { fieldPath, kindOf } from './documents/config-document.ts';
import { isPatchDelete } from './documents/patch-delete.ts';
import { isMapping } from './fields.ts';

/** What Talos does on a machine when a field changes. */
export type ChangeEffect = 'none' | 'kubeletRestart' | 'apiServerRestart' | 'reboot';

/** One field of a document, and what a change of it costs. */
export interface FieldChange {
  /** Kind of the document; `v1alpha1` for the one without a kind. */
  readonly document: string;
  /** Path of the field, as messages write it. */
  readonly path: string;
  readonly effect: ChangeEffect;
}

/** Every field of the documents, with what a change of it costs at worst on a supported version of Talos. */
export function changesOf(documents: readonly object[]): readonly FieldChange[] {
  return documents.flatMap((document) => {
    const kind = kindOf(document);
    return fieldsOf(document, []).map((keys) => ({
      document: kind,
      path: fieldPath(kind, keys),
      effect: effectOf(kind, keys),
    }));
  });
}

/** The effect of the documents of a kind; those of other kinds are applied while the machine runs. */
const effectOfKind: Readonly<Record<string, ChangeEffect>> = {
  KubeAPIServerConfig: 'apiServerRestart',
  KubeAdmissionControlConfig: 'apiServerRestart',
  KubeAuditPolicyConfig: 'apiServerRestart',
  KubeAuthenticationConfig: 'apiServerRestart',
  KubeAuthorizerConfig: 'apiServerRestart',
  KubeCredentialProviderConfig: 'kubeletRestart',
  KubeNodeConfig: 'kubeletRestart',
  KubeletConfig: 'kubeletRestart',
};

/**
 * Fields of the `v1alpha1` document that Talos before 1.14 applies without a reboot, the longest match first. The
 * kubelet's image is one of them; what is not here reboots the machine. Changed since: 1.14 reboots for nothing.
 * (`CanApplyImmediate` in Talos's `internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_runtime.go`)
 */
const liveFields: readonly (readonly [string, ChangeEffect])[] = [
  ['machine.kubelet', 'kubeletRestart'],
  ['cluster.apiServer', 'apiServerRestart'],
  ['cluster.etcd', 'reboot'],
  ['cluster', 'none'],
  ['debug', 'none'],
  ['version', 'none'],
  ...[
    'acceptedCAs',
    'ca',
    'certSANs',
    'controlPlane',
    'features.hostDNS',
    'features.imageCache',
    'features.kubePrism',
    'features.kubernetesTalosAPIAccess',
    'features.nodeAddressSortAlgorithm',
    'install',
    'kernel',
    'logging',
    'network',
    'nodeAnnotations',
    'nodeLabels',
    'nodeTaints',
    'pods',
    'registries',
    'seccompProfiles',
    'sysctls',
    'sysfs',
    'time',
  ].map((field): readonly [string, ChangeEffect] => [`machine.${field}`, 'none']),
];

function effectOf(kind: string, keys: readonly string[]): ChangeEffect {
  if (keys.length === 1 && (keys[0] === 'apiVersion' || keys[0] === 'kind')) return 'none';
  if (kind !== 'v1alpha1') return effectOfKind[kind] ?? 'none';
  const path = keys.join('.');
  const [, effect] =
    liveFields.find(([field]) => path === field || path.startsWith(`${field}.`)) ?? [];
  return effect ?? 'reboot';
}

function fieldsOf(value: object, path: readonly string[]): readonly (readonly string[])[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    isMapping(inner) && !isPatchDelete(inner) && Object.keys(inner).length > 0
      ? fieldsOf(inner, [...path, key])
      : [[...path, key]],
  );
}
