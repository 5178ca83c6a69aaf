import * as z from 'zod';
import type { KubeObject } from './kube-object.ts';
import {
  dnsName,
  expected,
  hostAddress,
  invalidObject,
  list,
  objectIdentity,
  objectName,
  optional,
} from './object-fields.ts';
import type { Parsed, TalosMachine, TalosMachineStatus } from './talos-objects.ts';

/** `TalosMachine.spec` as stored. */
export const talosMachineSpec = z.object(
  {
    clusterRef: z.object(
      { name: objectName },
      expected('an object with the name of a TalosCluster'),
    ),
    machineType: z.enum(['controlplane', 'worker'], expected('controlplane or worker')),
    address: hostAddress,
    hostname: optional(dnsName),
  },
  expected('an object'),
);

const talosMachine = z.object({ spec: talosMachineSpec });

/** What tells whose a machine is that cannot be used otherwise. */
const clusterReference = z.object({
  spec: z.object({ clusterRef: z.object({ name: objectName }) }),
});

const sourcedValue = z.object({ value: z.string(), source: z.string() });

const identity = z.object({
  observedAt: z.string(),
  dnsNames: list(sourcedValue),
  ipAddresses: list(sourcedValue),
  reserved: optional(z.array(z.string())),
});

const certificate = z.object({
  request: z.string().default(''),
  issuedAt: z.string(),
  notAfter: z.string(),
  dnsNames: list(z.string()),
  ipAddresses: list(z.string()),
  fingerprint: z.string(),
  adopted: z.boolean().default(false),
});

// A status is this program's own work and is written anew: parts that do not parse read as absent.
const status = z.object({
  nodeName: absentUnlessValid(z.string().min(1)),
  identity: absentUnlessValid(identity),
  kubeletServingCertificate: absentUnlessValid(certificate),
});

/**
 * Makes a TalosMachine of an object as received. An object that cannot be used is `invalid`, with
 * one sentence that names the field.
 */
export function parseTalosMachine(object: KubeObject): Parsed<TalosMachine> {
  const metadata = objectIdentity(object);
  const parsed = talosMachine.safeParse(object);
  if (!parsed.success) {
    const invalid = invalidObject('TalosMachine', metadata, parsed.error);
    const reference = clusterReference.safeParse(object);
    return {
      kind: 'invalid',
      value: reference.success
        ? { ...invalid, cluster: reference.data.spec.clusterRef.name }
        : invalid,
    };
  }
  const { clusterRef, machineType, address, hostname } = parsed.data.spec;
  return {
    kind: 'valid',
    value: {
      ...metadata,
      spec: { cluster: clusterRef.name, machineType, address, hostname },
      status: parseStatus(object['status']),
    },
  };
}

function parseStatus(given: unknown): TalosMachineStatus {
  const { data } = status.safeParse(given);
  return {
    nodeName: data?.nodeName,
    identity:
      data?.identity === undefined
        ? undefined
        : { ...data.identity, reserved: data.identity.reserved },
    kubeletServingCertificate: data?.kubeletServingCertificate,
  };
}

function absentUnlessValid<T extends z.ZodType>(schema: T) {
  return schema
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined);
}
