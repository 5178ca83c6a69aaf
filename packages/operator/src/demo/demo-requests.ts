import {
  boolean,
  dnsEntry,
  type GeneralName,
  ipEntry,
  octetString,
  type RequestChanges,
  sanExtension,
  sequence,
} from '@ichor/policy/testing/builder';

/** What must become of a request: the condition, or that there is none, and the reasons. */
export interface ExpectedOutcome {
  readonly kind: 'approve' | 'deny' | 'pending' | 'untouched';
  readonly reasons: readonly string[];
}

/** One request of the demonstration. */
export interface DemoRequest {
  readonly name: string;
  /** What it asks for, for the reader. */
  readonly asks: string;
  readonly node: string;
  readonly san: readonly GeneralName[];
  readonly changes: Omit<RequestChanges, 'san' | 'nodeName'>;
  readonly expected: ExpectedOutcome;
}

const approve: ExpectedOutcome = { kind: 'approve', reasons: ['IchorKubeletServing'] };
const deny = (...reasons: string[]): ExpectedOutcome => ({ kind: 'deny', reasons });
const pending = (reason: string): ExpectedOutcome => ({ kind: 'pending', reasons: [reason] });

const basicConstraintsCa = {
  type: '2.5.29.19',
  value: sequence(boolean(true)),
};
const san = (dns: string, ...addresses: string[]) => [
  dnsEntry(dns),
  ...addresses.map((address) => ipEntry(address)),
];
const own3 = san('worker-3', '10.5.0.13');

/** The requests in the order in which they are made: honest ones, hostile ones, undecidable ones. */
export const demoRequests: readonly DemoRequest[] = [
  {
    name: 'honest-worker',
    asks: 'its own name, its IPv4 and its IPv6 address',
    node: 'worker-1',
    san: san('worker-1', '10.5.0.11', 'fd00:5::11'),
    changes: {},
    expected: approve,
  },
  {
    name: 'honest-control-plane',
    asks: 'its own name and address, which is the endpoint',
    node: 'cp-1',
    san: san('cp-1', '10.5.0.2'),
    changes: {},
    expected: approve,
  },
  {
    name: 'honest-cloud-worker',
    asks: 'also the address and the name that its cloud gave it',
    node: 'worker-2',
    san: [...san('worker-2', '10.5.0.12', '203.0.113.12'), dnsEntry('worker-2.cloud.example')],
    changes: {},
    expected: approve,
  },
  {
    name: 'takes-the-vip',
    asks: 'the virtual IP of the API server',
    node: 'worker-3',
    san: san('worker-3', '10.5.0.13', '10.5.0.100'),
    changes: {},
    expected: deny('NameReserved'),
  },
  {
    name: 'takes-the-endpoint',
    asks: "the control plane's address",
    node: 'worker-3',
    san: san('worker-3', '10.5.0.13', '10.5.0.2'),
    changes: {},
    expected: deny('NameOfAnotherMachine'),
  },
  {
    name: 'takes-a-neighbour',
    asks: "worker-1's address",
    node: 'worker-3',
    san: san('worker-3', '10.5.0.13', '10.5.0.11'),
    changes: {},
    expected: deny('NameOfAnotherMachine'),
  },
  {
    name: 'takes-the-service',
    asks: 'kubernetes.default.svc and a service address',
    node: 'worker-3',
    san: [...san('worker-3', '10.5.0.13', '10.96.0.1'), dnsEntry('kubernetes.default.svc')],
    changes: {},
    expected: deny('NameReserved'),
  },
  {
    name: 'makes-up-an-address',
    asks: 'an address that is nobody’s',
    node: 'worker-3',
    san: san('worker-3', '192.0.2.77'),
    changes: {},
    expected: deny('IpAddressNotOfNode'),
  },
  {
    name: 'wears-another-name',
    asks: 'a certificate as worker-1, being worker-3',
    node: 'worker-1',
    san: san('worker-1', '10.5.0.11'),
    changes: { username: 'system:node:worker-3' },
    expected: deny('SubjectNotExact'),
  },
  {
    name: 'is-no-node',
    asks: 'a certificate as worker-1, being mallory',
    node: 'worker-1',
    san: san('worker-1', '10.5.0.11'),
    changes: { username: 'mallory', groups: ['system:authenticated'] },
    expected: deny('RequesterNotNode', 'RequesterGroupMissing'),
  },
  {
    name: 'adds-an-email',
    asks: 'an email address beside its names',
    node: 'worker-3',
    san: [...own3, { kind: 'email', text: 'root@lab.example' }],
    changes: {},
    expected: deny('SanTypeNotPermitted'),
  },
  {
    name: 'wants-to-be-a-ca',
    asks: 'to be a certificate authority',
    node: 'worker-3',
    san: own3,
    changes: { extensions: [sanExtension(own3), basicConstraintsCa] },
    expected: deny('ExtensionNotPermitted'),
  },
  {
    name: 'wants-client-auth',
    asks: 'client auth beside server auth',
    node: 'worker-3',
    san: own3,
    changes: { usages: ['digital signature', 'server auth', 'client auth'] },
    expected: deny('UsagesNotPermitted'),
  },
  {
    name: 'broken-signature',
    asks: 'a certificate for a key that did not sign',
    node: 'worker-3',
    san: own3,
    changes: { signature: 'broken' },
    expected: deny('SignatureInvalid'),
  },
  {
    name: 'garbage',
    asks: 'nothing that can be read',
    node: 'worker-3',
    san: own3,
    changes: { der: octetString(new Uint8Array([0xde, 0xad, 0xbe, 0xef])) },
    expected: deny('RequestMalformed'),
  },
  {
    name: 'unknown-node',
    asks: 'its own name; no TalosMachine has it',
    node: 'guest-9',
    san: san('guest-9', '10.5.0.99'),
    changes: {},
    expected: pending('NodeNotManaged'),
  },
  {
    name: 'node-does-not-answer',
    asks: 'its own name; Talos does not answer there',
    node: 'worker-4',
    san: san('worker-4', '10.5.0.14'),
    changes: {},
    expected: pending('NodeUnreadable'),
  },
  {
    name: 'another-signer',
    asks: 'a client certificate, from another signer',
    node: 'worker-1',
    san: [],
    changes: { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' },
    expected: { kind: 'untouched', reasons: [] },
  },
];
