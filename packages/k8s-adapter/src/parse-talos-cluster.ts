import * as z from 'zod';
import type { KubeObject } from './kube-object.ts';
import {
  conditions,
  dnsName,
  expected,
  httpsUrl,
  invalidObject,
  ipAddress,
  list,
  objectIdentity,
  objectName,
  optional,
  subnet,
  text,
  withDefault,
} from './object-fields.ts';
import type { Parsed, TalosCluster, TalosClusterStatus } from './talos-objects.ts';

const secretRef = optional(z.object({ name: objectName }, expected('an object with a name')));

const servingCertificates = z
  .object(
    {
      enabled: withDefault(z.boolean(expected('true or false')), false),
      verifyFromAPIServer: withDefault(z.boolean(expected('true or false')), false),
      unknownNames: withDefault(z.enum(['Deny', 'Pending'], expected('Deny or Pending')), 'Deny'),
      maxExpirationSeconds: optional(
        z
          .int(expected('a whole number of seconds'))
          .min(600, { error: 'must be at least 600 seconds' }),
      ),
      extraDNSNames: list(dnsName.refine(isNotReserved, { error: 'is reserved for Kubernetes' })),
      extraSubnets: list(subnet),
      probe: withDefault(z.boolean(expected('true or false')), true),
    },
    expected('an object'),
  )
  .refine((given) => given.enabled || !given.verifyFromAPIServer, {
    path: ['verifyFromAPIServer'],
    error: 'must be false while enabled is false',
  });

/** `TalosCluster.spec` as stored; the result has every default filled in. */
export const talosClusterSpec = z.object(
  {
    talos: withDefault(
      z.object(
        {
          contract: optional(
            text.regex(/^v1\.(0|[1-9][0-9]{0,3})$/, {
              error: 'must be a version contract such as v1.14',
            }),
          ),
          endpoints: list(text.min(1, { error: 'must not be empty' })),
          talosconfigSecretRef: secretRef,
        },
        expected('an object'),
      ),
      { contract: undefined, endpoints: [], talosconfigSecretRef: undefined },
    ),
    kubernetes: withDefault(
      z.object(
        {
          version: optional(text),
          endpoint: optional(httpsUrl),
          kubeconfigSecretRef: secretRef,
        },
        expected('an object'),
      ),
      { version: undefined, endpoint: undefined, kubeconfigSecretRef: undefined },
    ),
    security: withDefault(
      z.object(
        { kubeletServingCertificates: servingCertificates.nullish() },
        expected('an object'),
      ),
      { kubeletServingCertificates: undefined },
    ),
    reserved: withDefault(
      z.object(
        { dnsNames: list(dnsName), ipAddresses: list(ipAddress), subnets: list(subnet) },
        expected('an object'),
      ),
      { dnsNames: [], ipAddresses: [], subnets: [] },
    ),
    configManagement: withDefault(
      z.enum(['Render', 'Apply'], expected('Render or Apply')),
      'Render',
    ),
  },
  expected('an object'),
);

const talosCluster = z.object({
  spec: talosClusterSpec.refine(
    ({ talos, kubernetes }) =>
      kubernetes.kubeconfigSecretRef === undefined || talos.talosconfigSecretRef !== undefined,
    {
      path: ['talos', 'talosconfigSecretRef'],
      error: 'is required where kubernetes.kubeconfigSecretRef is given',
    },
  ),
});

const machines = z
  .object({ total: z.int(), certified: z.int() })
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);

// A status is this program's own work and is written anew: parts that do not parse read as absent.
const status = z.object({
  observedGeneration: z
    .int()
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined),
  machines,
  conditions,
});

/**
 * Makes a TalosCluster of an object as received, with every default filled in. An object that
 * cannot be used is `invalid`, with one sentence that names the field.
 */
export function parseTalosCluster(object: KubeObject): Parsed<TalosCluster> {
  const identity = objectIdentity(object);
  const parsed = talosCluster.safeParse(object);
  if (!parsed.success) {
    return { kind: 'invalid', value: invalidObject('TalosCluster', identity, parsed.error) };
  }
  const { talos, kubernetes, security, reserved, configManagement } = parsed.data.spec;
  const certificates = security.kubeletServingCertificates ?? servingCertificates.parse({});
  return {
    kind: 'valid',
    value: {
      ...identity,
      spec: {
        talos: {
          contract: talos.contract,
          endpoints: talos.endpoints,
          talosconfigSecret: talos.talosconfigSecretRef?.name,
        },
        kubernetes: {
          version: kubernetes.version,
          endpoint: kubernetes.endpoint,
          kubeconfigSecret: kubernetes.kubeconfigSecretRef?.name,
        },
        // Spelled out, so that every key is there although its value may be undefined.
        servingCertificates: {
          ...certificates,
          maxExpirationSeconds: certificates.maxExpirationSeconds,
        },
        reserved,
        configManagement,
      },
      status: parseStatus(object['status']),
    },
  };
}

function parseStatus(given: unknown): TalosClusterStatus {
  const { data } = status.safeParse(given);
  return {
    observedGeneration: data?.observedGeneration,
    machines: data?.machines,
    conditions: data?.conditions ?? [],
  };
}

function isNotReserved(name: string): boolean {
  const folded = name.toLowerCase().replace(/\.$/, '');
  return !/^(kubernetes(\..*)?|(.*\.)?localhost)$/.test(folded);
}
