import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  dnsEntry,
  extensionRequest,
  ipEntry,
  nameAttributeTypes,
  nodeSubject,
  type RequestChanges,
  sanExtension,
  sequence,
} from '@ichor/policy/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ask,
  certificateOf,
  clusterCondition,
  clusterPath,
  createCluster,
  decisionOf,
  decisionsSince,
  eventually,
  honestRequest,
  installOperator,
  labNode,
  letCreateRequests,
  type MachineSpec,
  machineEvent,
  machineObject,
  machinePath,
  nodeUser,
  notYet,
  type OperatorProcess,
  operatorNamespace,
  patchObject,
  readObject,
  readRequest,
  revisionNow,
  type StoredRequest,
  setOptions,
  startOperator,
  startTestbed,
  type Testbed,
  type TestbedUser,
  virtualAddress,
} from '../src/index.ts';

const controlPlane: MachineSpec = {
  name: 'cp-1',
  address: '10.5.0.2',
  machineType: 'controlplane',
};
const workers: readonly MachineSpec[] = [
  { name: 'worker-1', address: '10.5.0.11' },
  { name: 'worker-2', address: '10.5.0.12' },
  { name: 'worker-3', address: '10.5.0.13' },
  { name: 'stopped-1', address: '10.5.0.31' },
  { name: 'frozen-1', address: '10.5.0.32' },
  { name: 'replaced-1', address: '10.5.0.33' },
];
/** Nodes whose TalosMachines are created later. */
const laterWorkers: readonly MachineSpec[] = [
  { name: 'late-1', address: '10.5.0.41' },
  { name: 'late-2', address: '10.5.0.42' },
];
/** Somebody who is no node but may create requests, as a member of the group `testers`. */
const mallory: TestbedUser = { user: 'mallory', groups: ['testers'] };

let testbed: Testbed;
let operator: OperatorProcess;

beforeAll(async () => {
  testbed = await startTestbed({
    talosNodes: [controlPlane, ...workers, ...laterWorkers].map((each) => labNode(each)),
  });
  await installOperator(testbed);
  await letCreateRequests(testbed, 'testers');
  await createCluster(testbed, [controlPlane, ...workers]);
  await testbed.talos.stop('stopped-1');
  await testbed.talos.certificate('replaced-1', 'otherCA');
  operator = await startOperator(testbed);
});

afterAll(async () => {
  await testbed?.close();
});

function machine(name: string): MachineSpec {
  const found = [controlPlane, ...workers, ...laterWorkers].find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no machine ${name}.`);
  return found;
}

function askAsNode(name: string, changes: RequestChanges = {}): Promise<StoredRequest> {
  return ask(testbed, nodeUser(name), { ...honestRequest(machine(name)), ...changes });
}

/** The record of the machine's certificate, once it is that of a request. */
function recordOf(name: string, request: StoredRequest): Promise<Record<string, unknown>> {
  return eventually(`the certificate of ${request.name} is recorded on ${name}`, async () => {
    const { status } = await readObject(testbed, machinePath(name));
    const record = status?.kubeletServingCertificate;
    return record?.request === request.name ? record : notYet(record);
  });
}

async function expectUntouched(request: StoredRequest): Promise<void> {
  const now = await readRequest(testbed, request.name);
  expect(now.metadata.resourceVersion).toBe(request.resourceVersion);
  expect(now.status).toEqual({});
}

describe('an honest request', () => {
  it('is approved with the evidence for each name, issued and recorded', async () => {
    const request = await askAsNode('worker-1');

    expect(await decisionOf(testbed, request)).toMatchObject({
      type: 'Approved',
      status: 'True',
      reason: 'IchorKubeletServing',
      message:
        'Node worker-1 has these names: DNS worker-1 (Nodename), IP 10.5.0.11 (NodeIP), IP fd00:5::11 (NodeIP)',
    });
    const certificate = new X509Certificate(await certificateOf(testbed, request));
    expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:worker-1');
    const rfc3339 = (text: string) => `${new Date(text).toISOString().slice(0, 19)}Z`;
    expect(await recordOf('worker-1', request)).toEqual({
      request: request.name,
      issuedAt: rfc3339(certificate.validFrom),
      notAfter: rfc3339(certificate.validTo),
      dnsNames: ['worker-1'],
      ipAddresses: ['10.5.0.11', 'fd00:5::11'],
      fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      adopted: false,
    });
    expect(await machineEvent(testbed, 'worker-1', 'IchorKubeletServing')).toMatchObject({
      type: 'Normal',
      action: 'Approve',
      regarding: { kind: 'TalosMachine', namespace: operatorNamespace, name: 'worker-1' },
      related: { kind: 'CertificateSigningRequest', name: request.name, uid: request.uid },
    });
  });
});

type Denied = {
  readonly title: string;
  readonly node: string;
  readonly changes: RequestChanges;
  /** Default: the node itself. */
  readonly who?: TestbedUser;
  readonly reason: string;
  readonly message: string;
  /** The nearest request that is approved, asked by the node itself; default: the honest one. */
  readonly nearest?: RequestChanges;
};

const basicConstraints = { type: '2.5.29.19', value: sequence() };
const denied: readonly Denied[] = [
  {
    title: 'of somebody else in the name of a node',
    node: 'worker-1',
    who: mallory,
    changes: {},
    reason: 'RequesterNotNode',
    message:
      'RequesterNotNode: The requester "mallory" is not "system:node:worker-1". RequesterGroupMissing: The requester "mallory" is not in the group system:nodes.',
  },
  {
    title: 'of the node without the group of nodes',
    node: 'worker-1',
    who: { user: 'system:node:worker-1', groups: ['testers'] },
    changes: {},
    reason: 'RequesterGroupMissing',
    message:
      'RequesterGroupMissing: The requester "system:node:worker-1" is not in the group system:nodes.',
  },
  {
    title: 'with one more part in the subject',
    node: 'worker-1',
    changes: {
      subject: [
        ...nodeSubject('worker-1'),
        [{ type: nameAttributeTypes.organizationalUnit, value: 'kubelets' }],
      ],
    },
    reason: 'SubjectNotExact',
    message: 'SubjectNotExact: The subject has 3 RDNs instead of two.',
    nearest: { subject: nodeSubject('worker-1').toReversed() },
  },
  {
    title: 'for a DNS name that is nobody’s',
    node: 'worker-1',
    changes: { san: [dnsEntry('worker-1'), dnsEntry('intranet.example')] },
    reason: 'DnsNameNotOfNode',
    message: 'DnsNameNotOfNode: "intranet.example" is not a name of the node.',
    nearest: { san: [dnsEntry('worker-1'), dnsEntry('worker-1.lab.example')] },
  },
  {
    title: 'for an address that is nobody’s',
    node: 'worker-1',
    changes: { san: [ipEntry('10.5.0.11'), ipEntry('192.0.2.7')] },
    reason: 'IpAddressNotOfNode',
    message: 'IpAddressNotOfNode: 192.0.2.7 is not an address of the node.',
    nearest: { san: [ipEntry('10.5.0.11')] },
  },
  {
    title: 'for the address of another machine',
    node: 'worker-1',
    changes: { san: [ipEntry('10.5.0.11'), ipEntry('10.5.0.12')] },
    reason: 'NameOfAnotherMachine',
    message: 'NameOfAnotherMachine: 10.5.0.12 belongs to "worker-2".',
    nearest: { san: [ipEntry('10.5.0.11'), ipEntry('fd00:5::11')] },
  },
  {
    title: 'for the virtual address of the control planes',
    node: 'worker-1',
    changes: { san: [ipEntry('10.5.0.11'), ipEntry(virtualAddress)] },
    reason: 'NameReserved',
    message: `NameReserved: ${virtualAddress} is reserved.`,
    nearest: { san: [dnsEntry('WORKER-1.lab.example.'), ipEntry('10.5.0.11')] },
  },
  {
    title: 'with an e-mail address in the SAN',
    node: 'worker-1',
    changes: { san: [dnsEntry('worker-1'), { kind: 'email', text: 'root@worker-1' }] },
    reason: 'SanTypeNotPermitted',
    message: 'SanTypeNotPermitted: The SAN holds a name of the type "[1]".',
  },
  {
    title: 'with a URI in the SAN',
    node: 'worker-2',
    changes: { san: [dnsEntry('worker-2'), { kind: 'uri', text: 'https://worker-2/' }] },
    reason: 'SanTypeNotPermitted',
    message: 'SanTypeNotPermitted: The SAN holds a name of the type "[6]".',
  },
  {
    title: 'with an otherName in the SAN',
    node: 'worker-3',
    changes: {
      san: [
        dnsEntry('worker-3'),
        // A user principal name, by which a Windows domain would know somebody.
        { kind: 'otherName', type: '1.3.6.1.4.1.311.20.2.3', value: sequence() },
      ],
    },
    reason: 'SanTypeNotPermitted',
    message: 'SanTypeNotPermitted: The SAN holds a name of the type "[0]".',
  },
  {
    title: 'for a certificate that is a client’s too',
    node: 'worker-1',
    changes: { usages: ['digital signature', 'server auth', 'client auth'] },
    reason: 'UsagesNotPermitted',
    message: 'UsagesNotPermitted: The usage "client auth" is not one of a serving certificate.',
    nearest: { usages: ['digital signature', 'key encipherment', 'server auth'] },
  },
  {
    title: 'with one more extension',
    node: 'worker-1',
    changes: { extensions: [sanExtension([dnsEntry('worker-1')]), basicConstraints] },
    reason: 'ExtensionNotPermitted',
    message: 'ExtensionNotPermitted: The extension "2.5.29.19" is asked for.',
    nearest: { extensions: [sanExtension([dnsEntry('worker-1')], true)] },
  },
  {
    title: 'with a second extensionRequest',
    node: 'worker-1',
    changes: {
      attributes: [extensionRequest([sanExtension([dnsEntry('worker-1')])]), extensionRequest([])],
    },
    reason: 'AttributeNotPermitted',
    message: 'AttributeNotPermitted: The request has 2 extensionRequests.',
    nearest: { attributes: [extensionRequest([sanExtension([dnsEntry('worker-1')])])] },
  },
];

describe('a request is denied', () => {
  it.each(denied)('$title', async ({ node, changes, who, reason, message, nearest }) => {
    const request = await ask(testbed, who ?? nodeUser(node), {
      ...honestRequest(machine(node)),
      ...changes,
    });

    expect(await decisionOf(testbed, request)).toMatchObject({
      type: 'Denied',
      status: 'True',
      reason,
      message,
    });
    expect(await machineEvent(testbed, node, reason)).toMatchObject({
      type: 'Warning',
      action: 'Deny',
      note: message,
      regarding: { kind: 'TalosMachine', name: node },
      related: { kind: 'CertificateSigningRequest', name: request.name, uid: request.uid },
    });
    const approved = await decisionOf(testbed, await askAsNode(node, nearest));
    expect(approved).toMatchObject({ type: 'Approved', reason: 'IchorKubeletServing' });
  });
});

/** Asks as a node that cannot be read: the operator says why and leaves the request as it is. */
async function expectUnreadable(name: string, cause: RegExp): Promise<StoredRequest> {
  const request = await askAsNode(name);
  const line = await operator.decisionOn(request.uid);
  expect(line).toMatchObject({ kind: 'pending', reasons: ['NodeUnreadable'] });
  expect(line['detail']).toMatch(cause);
  await expectUntouched(request);
  return request;
}

describe('a request is left', () => {
  it('while its node cannot be reached or trusted, and approved once it can', async () => {
    const causes = {
      'stopped-1': /10\.5\.0\.31.*cannot connect/,
      'replaced-1': /10\.5\.0\.33.*certificate refused/,
    };
    const requests = await Promise.all(
      Object.entries(causes).map(([name, cause]) => expectUnreadable(name, cause)),
    );
    await testbed.talos.start('stopped-1');
    await testbed.talos.certificate('replaced-1', 'good');

    for (const request of requests) {
      expect(await decisionOf(testbed, request)).toMatchObject({
        type: 'Approved',
        reason: 'IchorKubeletServing',
      });
    }
  });

  it('while nobody manages its node, and approved once somebody does', async () => {
    const request = await askAsNode('late-1');
    expect(await operator.decisionOn(request.uid)).toMatchObject({
      kind: 'pending',
      reasons: ['NodeNotManaged'],
    });
    await expectUntouched(request);

    await testbed.apply(machineObject(machine('late-1')));
    expect(await decisionOf(testbed, request)).toMatchObject({
      type: 'Approved',
      reason: 'IchorKubeletServing',
    });
  });

  it('while the role of the credentials may not read the node', async () => {
    await testbed.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'backup-talos', namespace: operatorNamespace },
      stringData: { config: await readFile(testbed.talos.talosconfig('etcd-backup'), 'utf8') },
    });
    await useTalosSecret('backup-talos');
    await testbed.apply(machineObject(machine('late-2')));
    const request = await expectUnreadable(
      'late-2',
      /10\.5\.0\.42.*not authorized; use a talosconfig whose role may read it/,
    );

    // What failed a moment ago is not asked again for the same request, whatever changes meanwhile.
    const said = Date.parse((await operator.decisionOn(request.uid)).time);
    await eventually('the failed reading is old', () => Date.now() - said > 1_100);
    await useTalosSecret('lab-talos');
    expect(await decisionOf(testbed, request)).toMatchObject({
      type: 'Approved',
      reason: 'IchorKubeletServing',
    });
  });

  it('while its node hangs, for which no other one waits, and approved once it goes on', async () => {
    await readingsAreOld();
    await testbed.talos.freeze('frozen-1');
    const hanging = await askAsNode('frozen-1');
    const others = [await askAsNode('worker-1'), await askAsNode('worker-2')];
    for (const other of others) {
      expect(await decisionOf(testbed, other)).toMatchObject({ type: 'Approved' });
    }
    // The operator has nothing to say about it yet: it waits for the node.
    expect(operator.log().filter(({ uid }) => uid === hanging.uid)).toEqual([]);

    const line = await operator.decisionOn(hanging.uid);
    expect(line).toMatchObject({ kind: 'pending', reasons: ['NodeUnreadable'] });
    expect(line['detail']).toMatch(/10\.5\.0\.32.*no answer within/);
    await expectUntouched(hanging);
    await testbed.talos.unfreeze('frozen-1');
    expect(await decisionOf(testbed, hanging)).toMatchObject({
      type: 'Approved',
      reason: 'IchorKubeletServing',
    });
  });

  it('where it is for another signer', async () => {
    const others = [
      await askAsNode('worker-1', { signerName: 'example.com/serving' }),
      await askAsNode('worker-1', {
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        attributes: [],
        usages: ['digital signature', 'client auth'],
      }),
    ];
    const sentinel = await askAsNode('worker-1');

    expect(await decisionOf(testbed, sentinel)).toMatchObject({ type: 'Approved' });
    for (const other of others) await expectUntouched(other);
  });
});

let accessChangedAt = 0;

/**
 * Waits until every machine was last read more than ten seconds ago: a reading that is young is as
 * good as a new one. They are all read when the operator starts, and when its credentials change.
 */
async function readingsAreOld(): Promise<void> {
  const started = operator.log().findLast(({ message }) => message === 'starting');
  const since = Math.max(accessChangedAt, Date.parse(started?.time ?? ''));
  await eventually('the readings are old', () => {
    const age = Date.now() - since;
    return age > 12_000 || notYet(age);
  });
}

async function useTalosSecret(name: string): Promise<void> {
  const { metadata } = await patchObject(testbed, clusterPath(), {
    spec: { talos: { talosconfigSecretRef: { name } } },
  });
  await eventually(`the operator works with the Secret ${name}`, async () => {
    const { status } = await readObject(testbed, clusterPath());
    return status?.observedGeneration === metadata.generation || notYet(status);
  });
  accessChangedAt = Date.now();
}

describe('a request that changes while it is decided', () => {
  it('is decided anew, and keeps what was changed', async () => {
    // It has to be read again, and that takes a while.
    await readingsAreOld();
    await testbed.talos.delay('cp-1', 500);
    await testbed.talos.resetCounters();
    const before = await revisionNow(testbed);
    const request = await askAsNode('cp-1');
    await eventually('the operator reads cp-1', async () => {
      const { calls } = await testbed.talos.counters('cp-1');
      return calls.length > 0;
    });
    const changed = await patchObject(testbed, testbed.csrPath(request.name), {
      metadata: { annotations: { 'example.com/ticket': '4711' } },
    });
    await testbed.talos.delay('cp-1', 0);

    expect(await decisionOf(testbed, request)).toMatchObject({
      type: 'Approved',
      reason: 'IchorKubeletServing',
    });
    const decided = await readRequest(testbed, request.name);
    expect(decided.metadata.annotations).toEqual({ 'example.com/ticket': '4711' });
    const [decision] = await decisionsSince(testbed, before);
    expect(decision?.revision).toBeGreaterThan(BigInt(changed.metadata.resourceVersion));
  });

  it('is decided once it holds still', async () => {
    const request = await askAsNode('worker-2');
    let decided = false;
    let changes = 0;
    while (!decided && changes < 50) {
      changes += 1;
      const changed = await patchObject(testbed, testbed.csrPath(request.name), {
        metadata: { annotations: { 'example.com/change': String(changes) } },
      });
      decided = changed.status.conditions !== undefined;
    }
    expect(await decisionOf(testbed, request)).toMatchObject({ type: 'Approved' });
    const { metadata } = await readRequest(testbed, request.name);
    expect(metadata.annotations).toEqual({ 'example.com/change': String(changes) });
  });
});

describe('with the option off', () => {
  it('no request is decided and no condition is left', async () => {
    await setOptions(testbed, { enabled: false });
    const { status } = await readObject(testbed, clusterPath());
    expect(status.conditions ?? []).toEqual([]);
    const requests = [
      await askAsNode('worker-1'),
      await ask(testbed, mallory, honestRequest(machine('worker-1'))),
    ];
    const beforeOn = await revisionNow(testbed);
    for (const request of requests) await expectUntouched(request);

    await setOptions(testbed, { enabled: true });
    const types = await Promise.all(requests.map((request) => decisionOf(testbed, request)));
    expect(types.map(({ type }) => type)).toEqual(['Approved', 'Denied']);
    const written = await decisionsSince(testbed, requests[0]?.resourceVersion ?? '');
    expect(written).toHaveLength(2);
    for (const { revision } of written) expect(revision).toBeGreaterThan(BigInt(beforeOn));
  });
});

describe('a certificate that somebody approved by hand', () => {
  const approveByHand = async (request: StoredRequest) => {
    const { code, stderr } = await testbed.kubectl(['certificate', 'approve', request.name]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await certificateOf(testbed, request);
  };

  it('never counts where it names another machine', async () => {
    await setOptions(testbed, { enabled: false });
    const request = await askAsNode('worker-3', {
      san: [dnsEntry('worker-3'), ipEntry('10.5.0.12')],
    });
    await approveByHand(request);
    await setOptions(testbed, { enabled: true });

    const condition = await clusterCondition(testbed, 'KubeletServingCertificates', {
      status: 'False',
      reason: 'IssuedOutsideIdentity',
    });
    expect(condition.message).toMatch(/^1 of 9 machines have no serving certificate: worker-3 \(/);
    expect(condition.message).toContain('NameOfAnotherMachine: 10.5.0.12 belongs to "worker-2".');
    const { status } = await readObject(testbed, clusterPath());
    expect(status.machines).toEqual({ total: 9, certified: 8 });
    const worker = await readObject(testbed, machinePath('worker-3'));
    expect(worker.status.kubeletServingCertificate.request).not.toBe(request.name);
  });

  it('counts where it names the machine alone', async () => {
    await setOptions(testbed, { enabled: false });
    const request = await askAsNode('worker-3');
    await approveByHand(request);
    await setOptions(testbed, { enabled: true });

    expect(await recordOf('worker-3', request)).toMatchObject({
      dnsNames: ['worker-3'],
      ipAddresses: ['10.5.0.13', 'fd00:5::13'],
    });
    const condition = await clusterCondition(testbed, 'KubeletServingCertificates', {
      status: 'True',
      reason: 'AllMachinesCertified',
    });
    expect(condition.message).toBe('All 9 machines have an unexpired serving certificate.');
    const { status } = await readObject(testbed, clusterPath());
    expect(status.machines).toEqual({ total: 9, certified: 9 });
  });

  it('counts and is named where unknown names are a person’s to judge', async () => {
    await setOptions(testbed, { enabled: true, unknownNames: 'Pending' });
    const request = await askAsNode('worker-2', {
      san: [dnsEntry('worker-2'), dnsEntry('intranet.example')],
    });
    expect(await operator.decisionOn(request.uid)).toMatchObject({
      kind: 'pending',
      reasons: ['NameUnverified'],
    });
    await expectUntouched(request);
    await approveByHand(request);

    expect(await recordOf('worker-2', request)).toMatchObject({
      dnsNames: ['worker-2', 'intranet.example'],
    });
    const message = await eventually('the condition names what was let through', async () => {
      const condition = await clusterCondition(testbed, 'KubeletServingCertificates', {
        status: 'True',
        reason: 'AllMachinesCertified',
      });
      return condition.message.includes('by hand') ? condition.message : notYet(condition.message);
    });
    expect(message).toContain('worker-2: approved by hand with a name that is not verified');
    expect(message).toContain('"intranet.example"');
  });

  it('takes the condition with it when the option goes', async () => {
    await setOptions(testbed, { enabled: false });
    const { status } = await readObject(testbed, clusterPath());
    expect(status.conditions ?? []).toEqual([]);
    expect(status.machines).toEqual({ total: 9, certified: 9 });
  });
});
