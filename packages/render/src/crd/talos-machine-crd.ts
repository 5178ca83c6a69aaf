import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import { customResourceDefinition } from './custom-resource-definition.ts';
import type { JsonSchema } from './json-schema.ts';
import { hostAddressRule, nodeNameRule } from './name-rules.ts';
import { textList, timeSchema } from './status-schema.ts';

const sourcedValues = (description: string): JsonSchema => ({
  type: 'array',
  description,
  maxItems: 512,
  'x-kubernetes-list-type': 'atomic',
  items: {
    type: 'object',
    description: 'One value and where it was read.',
    required: ['value', 'source'],
    properties: {
      // A host name and a domain name together are longer than a DNS name may be.
      value: { type: 'string', description: 'The value as the machine said it.', maxLength: 512 },
      source: {
        type: 'string',
        description: 'Talos resource that it was read from.',
        enum: [
          'NodeIP',
          'Nodename',
          'HostnameStatus',
          'ExternalAddress',
          'PlatformMetadata',
          'Configured',
        ],
      },
    },
  },
});

const identity: JsonSchema = {
  type: 'object',
  description:
    'What the machine said about itself when it was last read. Other machines are judged against it.',
  required: ['observedAt'],
  properties: {
    observedAt: timeSchema('When it was read.'),
    dnsNames: sourcedValues('DNS names of the machine.'),
    ipAddresses: sourcedValues('Addresses of the machine.'),
    reserved: textList(
      'Of a control plane: subnets and addresses that belong to the cluster and to no node (virtual addresses, service and pod ranges).',
      64,
    ),
  },
};

const kubeletServingCertificate: JsonSchema = {
  type: 'object',
  description: "The newest serving certificate that is known of the machine's kubelet.",
  required: ['issuedAt', 'notAfter', 'fingerprint'],
  properties: {
    request: {
      type: 'string',
      description:
        'Name of the CertificateSigningRequest; empty for a certificate found elsewhere.',
      maxLength: 253,
    },
    issuedAt: timeSchema('Start of its validity (notBefore).'),
    notAfter: timeSchema('End of its validity.'),
    dnsNames: textList('DNS names in it.', 254),
    ipAddresses: textList('Addresses in it.', 64),
    fingerprint: {
      type: 'string',
      description: 'SHA-256 of its DER, in lower-case hexadecimal.',
      maxLength: 64,
      pattern: '^[0-9a-f]{64}$',
    },
    adopted: {
      type: 'boolean',
      description: 'True where it was found on the machine instead of in a request.',
    },
  },
};

/** The schema of TalosMachine, version v1alpha1: `spec` and `status`. */
export const talosMachineSchema: JsonSchema = {
  type: 'object',
  description: 'One Talos Linux machine of a TalosCluster.',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string', description: 'ichor.dev/v1alpha1' },
    kind: { type: 'string', description: 'TalosMachine' },
    spec: {
      type: 'object',
      description: 'What the inventory says about the machine.',
      required: ['clusterRef', 'machineType', 'address'],
      properties: {
        clusterRef: {
          type: 'object',
          description: 'The TalosCluster that the machine belongs to. Cannot be changed.',
          required: ['name'],
          'x-kubernetes-map-type': 'atomic',
          // What was read from a machine is evidence for its cluster; it must not move with it.
          'x-kubernetes-validations': [
            {
              rule: 'self.name == oldSelf.name',
              message:
                'cannot be changed: delete the TalosMachine and create it for the other cluster',
            },
          ],
          properties: {
            name: {
              type: 'string',
              description: 'Name of a TalosCluster in the same namespace.',
              minLength: 1,
              maxLength: 253,
            },
          },
        },
        machineType: {
          type: 'string',
          description: "Talos's machine type.",
          enum: ['controlplane', 'worker'],
        },
        address: {
          type: 'string',
          description:
            "Address or host name at which the machine's Talos API is dialled (port 50000). It is this machine's own: no other is certified for it.",
          minLength: 1,
          maxLength: 253,
          'x-kubernetes-validations': [hostAddressRule],
        },
        hostname: {
          type: 'string',
          description:
            "The machine's node name, where it is known before the machine was read. It is this machine's own: no other is certified for it.",
          minLength: 1,
          maxLength: 253,
          'x-kubernetes-validations': [nodeNameRule],
        },
      },
    },
    status: {
      type: 'object',
      description: 'What the operator observed.',
      properties: {
        nodeName: {
          type: 'string',
          description: 'Node name that the machine reported.',
          maxLength: 253,
        },
        identity,
        kubeletServingCertificate,
      },
    },
  },
};

/** The CustomResourceDefinition of TalosMachine. */
export function talosMachineCrd(): CustomResourceDefinition {
  return customResourceDefinition({
    kind: 'TalosMachine',
    plural: 'talosmachines',
    schema: talosMachineSchema,
    columns: [
      { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterRef.name' },
      { name: 'Type', type: 'string', jsonPath: '.spec.machineType' },
      { name: 'Address', type: 'string', jsonPath: '.spec.address' },
      { name: 'Node', type: 'string', jsonPath: '.status.nodeName' },
      {
        name: 'Certificate-until',
        type: 'string',
        jsonPath: '.status.kubeletServingCertificate.notAfter',
      },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  });
}
