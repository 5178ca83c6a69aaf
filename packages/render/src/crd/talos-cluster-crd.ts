import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import { customResourceDefinition } from './custom-resource-definition.ts';
import type { JsonSchema } from './json-schema.ts';
import {
  apiServerUrlRule,
  dnsNameSet,
  endpointRule,
  ipAddressSet,
  subnetSet,
} from './name-rules.ts';
import { conditionsSchema } from './status-schema.ts';

const secretRef = (description: string): JsonSchema => ({
  type: 'object',
  description,
  required: ['name'],
  'x-kubernetes-map-type': 'atomic',
  properties: {
    name: {
      type: 'string',
      description: 'Name of a Secret in the namespace of this object.',
      minLength: 1,
      maxLength: 253,
    },
  },
});

const talos: JsonSchema = {
  type: 'object',
  description: 'How the Talos nodes of the cluster are reached.',
  default: {},
  properties: {
    contract: {
      type: 'string',
      description:
        'Version contract of the machine configuration, such as v1.14: the Talos version that it is written for.',
      maxLength: 16,
      'x-kubernetes-validations': [
        {
          rule: "self.matches(r'^v1\\.(0|[1-9][0-9]{0,2})$')",
          message: 'must be a Talos version contract such as v1.14',
        },
      ],
    },
    endpoints: {
      type: 'array',
      description:
        'Control planes that forward calls to nodes which cannot be dialled directly, tried in this order. Host or host:port; the port is 50000 by default. Empty: the endpoints of the Talos credential.',
      default: [],
      maxItems: 16,
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'string',
        description: 'Host or host:port of a control plane.',
        minLength: 1,
        maxLength: 261,
        'x-kubernetes-validations': [endpointRule],
      },
    },
    talosconfigSecretRef: secretRef(
      'Secret whose key "config" holds a talosconfig with the role os:reader. Absent: the credential that the operator was started with.',
    ),
  },
};

const kubernetes: JsonSchema = {
  type: 'object',
  description: 'The Kubernetes API of the cluster.',
  default: {},
  properties: {
    version: {
      type: 'string',
      description: 'Kubernetes version of the cluster, such as v1.37.2.',
      maxLength: 64,
      'x-kubernetes-validations': [
        {
          rule: "self.matches(r'^v1\\.(0|[1-9][0-9]{0,2})\\.(0|[1-9][0-9]{0,2})([-+][0-9A-Za-z.+-]+)?$')",
          message: 'must be a Kubernetes version such as v1.37.2',
        },
      ],
    },
    endpoint: {
      type: 'string',
      description:
        'URL of the control-plane endpoint, such as https://10.5.0.100:6443. Its host is reserved: no node is certified for it, unless it is the address or host name of a control-plane TalosMachine of this cluster.',
      minLength: 1,
      maxLength: 512,
      'x-kubernetes-validations': [apiServerUrlRule],
    },
    kubeconfigSecretRef: secretRef(
      'Secret whose key "kubeconfig" holds a kubeconfig. Absent: the cluster that the operator runs in.',
    ),
  },
};

const kubeletServingCertificates: JsonSchema = {
  type: 'object',
  description: 'Serving certificates of the kubelets. Off unless enabled.',
  default: {},
  'x-kubernetes-validations': [
    {
      // The API server also tries the rule on the default itself, which is still empty then.
      rule: '!has(self.verifyFromAPIServer) || !self.verifyFromAPIServer || (has(self.enabled) && self.enabled)',
      message:
        'verifyFromAPIServer needs enabled: an API server can only verify kubelets that have certificates',
    },
  ],
  properties: {
    enabled: {
      type: 'boolean',
      description:
        'Decide the requests that the kubelets of this cluster make of the signer kubernetes.io/kubelet-serving.',
      default: false,
    },
    verifyFromAPIServer: {
      type: 'boolean',
      description:
        'Let the kube-apiserver verify the kubelets, once every machine has a certificate.',
      default: false,
    },
    unknownNames: {
      type: 'string',
      description:
        'What becomes of a request for a name that is not known to belong to anybody: Deny, or Pending to leave it to a person. Reserved names and names of other machines are denied either way.',
      enum: ['Deny', 'Pending'],
      default: 'Deny',
    },
    maxExpirationSeconds: {
      type: 'integer',
      format: 'int32',
      description:
        'Longest lifetime in seconds that a request may ask for. Absent: no limit beside that of the signer.',
      minimum: 600,
      maximum: 2147483647,
    },
    extraDNSNames: dnsNameSet(
      'DNS names that every node of the cluster may be certified for, beside its own.',
      'grantable',
    ),
    extraSubnets: subnetSet(
      'Subnets whose addresses every node of the cluster may be certified for. Reserved addresses and those of other machines stay excluded.',
    ),
    probe: {
      type: 'boolean',
      description:
        'Look at the certificate that a kubelet serves, to find certificates that were issued while nobody looked.',
      default: true,
    },
  },
};

const reserved: JsonSchema = {
  type: 'object',
  description:
    'What no node may be certified for, beside what is reserved anyway: the endpoint, virtual addresses, service and pod ranges.',
  default: {},
  properties: {
    dnsNames: dnsNameSet('Reserved DNS names.', 'any'),
    ipAddresses: ipAddressSet('Reserved addresses.'),
    subnets: subnetSet('Reserved subnets.'),
  },
};

/** The schema of TalosCluster, version v1alpha1: `spec` and `status`. */
export const talosClusterSchema: JsonSchema = {
  type: 'object',
  description: 'A Kubernetes cluster of Talos Linux machines.',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string', description: 'ichor.dev/v1alpha1' },
    kind: { type: 'string', description: 'TalosCluster' },
    spec: {
      type: 'object',
      description: 'What the administrator wants.',
      required: ['security'],
      'x-kubernetes-validations': [
        {
          rule: '!has(self.kubernetes.kubeconfigSecretRef) || has(self.talos.talosconfigSecretRef)',
          message:
            "kubernetes.kubeconfigSecretRef needs talos.talosconfigSecretRef: the operator's own Talos credential belongs to the cluster that it runs in",
        },
      ],
      properties: {
        talos,
        kubernetes,
        security: {
          type: 'object',
          description: 'Security options. All are off by default.',
          properties: { kubeletServingCertificates },
        },
        reserved,
        configManagement: {
          type: 'string',
          description:
            'Render: machine configuration is only printed. Apply: it is applied to the machines.',
          enum: ['Render', 'Apply'],
          default: 'Render',
        },
      },
    },
    status: {
      type: 'object',
      description: 'What the operator observed.',
      properties: {
        observedGeneration: {
          type: 'integer',
          format: 'int64',
          description: 'Generation that the operator acts on.',
          minimum: 0,
        },
        machines: {
          type: 'object',
          description: 'Counts of machines.',
          required: ['total', 'certified'],
          properties: {
            total: {
              type: 'integer',
              format: 'int32',
              description: 'TalosMachines of this cluster.',
              minimum: 0,
            },
            certified: {
              type: 'integer',
              format: 'int32',
              description: 'Those with an unexpired certificate recorded.',
              minimum: 0,
            },
          },
        },
        conditions: conditionsSchema,
      },
    },
  },
};

const certificates = '.status.conditions[?(@.type=="KubeletServingCertificates")]';

/** The CustomResourceDefinition of TalosCluster. */
export function talosClusterCrd(): CustomResourceDefinition {
  return customResourceDefinition({
    kind: 'TalosCluster',
    plural: 'talosclusters',
    schema: talosClusterSchema,
    columns: [
      {
        name: 'Enabled',
        type: 'boolean',
        jsonPath: '.spec.security.kubeletServingCertificates.enabled',
      },
      { name: 'Certified', type: 'integer', jsonPath: '.status.machines.certified' },
      { name: 'Machines', type: 'integer', jsonPath: '.status.machines.total' },
      { name: 'Certificates', type: 'string', jsonPath: `${certificates}.status` },
      { name: 'Reason', type: 'string', jsonPath: `${certificates}.reason` },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  });
}
