import { dnsEntry, ipEntry, type RequestChanges } from '@ichor/policy/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ask,
  clearInventory,
  clusterCondition,
  clusterPath,
  createCluster,
  decisionOf,
  decisionsSince,
  eventually,
  flood,
  honestRequest,
  installOperator,
  labNode,
  letCreateRequests,
  type MachineSpec,
  nodeUser,
  notYet,
  type OperatorLogLine,
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
  virtualAddress,
  type WrittenDecision,
} from '../src/index.ts';

const controlPlane: MachineSpec = {
  name: 'cp-1',
  address: '10.5.0.2',
  machineType: 'controlplane',
};
const worker1: MachineSpec = { name: 'worker-1', address: '10.5.0.11' };
const worker2: MachineSpec = { name: 'worker-2', address: '10.5.0.12' };
const frozen: MachineSpec = { name: 'frozen-1', address: '10.5.0.13' };
/** Its Talos node is stopped; the liar reports its address. */
const dark: MachineSpec = { name: 'dark-1', address: '10.5.0.21' };
const liar: MachineSpec = { name: 'liar-1', address: '10.5.0.22' };
/** A cluster of its own: no control plane that answers, and a worker that reports the shared address. */
const darkControlPlane: MachineSpec = {
  name: 'cp-dark',
  address: '10.5.0.3',
  machineType: 'controlplane',
};
const usurper: MachineSpec = { name: 'usurper-1', address: '10.5.0.23' };

let testbed: Testbed;
let operator: OperatorProcess;

beforeAll(async () => {
  testbed = await startTestbed({
    talosNodes: [
      ...[controlPlane, worker1, worker2, frozen, dark, darkControlPlane].map((each) =>
        labNode(each),
      ),
      labNode(liar, { nodeIPs: [liar.address, dark.address] }),
      labNode(usurper, { nodeIPs: [usurper.address, virtualAddress] }),
    ],
  });
  await installOperator(testbed);
  await letCreateRequests(testbed, 'testers');
  await testbed.talos.stop(dark.name);
  await testbed.talos.stop(darkControlPlane.name);
  await createCluster(testbed, [controlPlane, worker1, worker2, frozen, dark, liar]);
  operator = await startOperator(testbed);
});

afterAll(async () => {
  await testbed?.close();
});

function askAs(machine: MachineSpec, changes: RequestChanges = {}): Promise<StoredRequest> {
  return ask(testbed, nodeUser(machine.name), { ...honestRequest(machine), ...changes });
}

/** What the machine would ask for if an address of another one were its own. */
function withAddress({ name, address }: MachineSpec, foreign: string): RequestChanges {
  return { san: [dnsEntry(name), ipEntry(address), ipEntry(foreign)] };
}

async function expectUntouched(request: StoredRequest): Promise<void> {
  const now = await readRequest(testbed, request.name);
  expect(now.metadata.resourceVersion).toBe(request.resourceVersion);
  expect(now.status).toEqual({});
}

/** The log line about a request among those from a place in the log on. */
function lineFrom(start: number, request: StoredRequest): Promise<OperatorLogLine> {
  return eventually(`the operator says what it makes of ${request.name}`, () =>
    operator
      .log()
      .slice(start)
      .find((line) => line.message === 'request decided' && line.uid === request.uid),
  );
}

/** Takes everything away and begins with another TalosCluster. */
async function anotherCluster(
  machines: readonly MachineSpec[],
  spec: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await clearInventory(testbed);
  await createCluster(testbed, machines, { enabled: true }, spec);
}

const approved = { type: 'Approved', reason: 'IchorKubeletServing' } as const;

const forged: RequestChanges = { ...honestRequest(worker1), san: [dnsEntry('intranet.example')] };

/** How many of the decisions that are the flood's were written before that on the honest request. */
function floodedBefore(
  decisions: readonly WrittenDecision[],
  honest: StoredRequest,
  isFlood: (user: string) => boolean,
): number {
  const own = decisions.find(({ request }) => request === honest.name);
  if (own === undefined) throw new Error('The honest request is not decided.');
  expect(own).toMatchObject(approved);
  return decisions.filter(({ user, revision }) => isFlood(user) && revision < own.revision).length;
}

describe('a node that takes the address of another one', () => {
  it('is denied, though its own Node status says that it has it', async () => {
    const kubelet = testbed.requester(testbed.clientCertificate(nodeUser(worker2.name)));
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: worker2.name } };
    const created = await kubelet.send('/api/v1/nodes', { method: 'POST', body: node });
    expect(created.status).toBe(201);
    const nobodys = '10.5.0.77';
    const written = await kubelet.send(`/api/v1/nodes/${worker2.name}/status`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: {
        status: {
          addresses: [worker2.address, worker1.address, nobodys].map((address) => ({
            type: 'InternalIP',
            address,
          })),
        },
      },
    });
    expect(written.status).toBe(200);

    const victims = await askAs(worker2, withAddress(worker2, worker1.address));
    expect(await decisionOf(testbed, victims)).toMatchObject({
      type: 'Denied',
      reason: 'NameOfAnotherMachine',
      message: `NameOfAnotherMachine: ${worker1.address} belongs to "${worker1.name}".`,
    });
    const free = await askAs(worker2, withAddress(worker2, nobodys));
    expect(await decisionOf(testbed, free)).toMatchObject({
      type: 'Denied',
      reason: 'IpAddressNotOfNode',
      message: `IpAddressNotOfNode: ${nobodys} is not an address of the node.`,
    });
    expect(await decisionOf(testbed, await askAs(worker2))).toMatchObject(approved);
  });
});

describe('an honest request behind a flood', () => {
  it.each([
    {
      of: 'another node',
      who: nodeUser(worker2.name),
      changes: { ...forged, nodeName: 'worker-2' },
    },
    {
      of: 'a user that is no node and names the victim',
      who: { user: 'mallory', groups: ['testers'] },
      changes: forged,
    },
  ])('of 150 of $of is approved before five of them are decided', async ({ who, changes }) => {
    await setOptions(testbed, { enabled: false });
    const before = await revisionNow(testbed);
    await flood(testbed, who, changes, 150, 20);
    const honest = await askAs(worker1);
    await setOptions(testbed, { enabled: true });

    expect(await decisionOf(testbed, honest)).toMatchObject(approved);
    const isFlood = (user: string) => user === who.user;
    const decisions = await eventually('ten of the flood are decided', async () => {
      const seen = await decisionsSince(testbed, before);
      return seen.filter(({ user }) => isFlood(user)).length >= 10 ? seen : notYet(seen.length);
    });
    expect(floodedBefore(decisions, honest, isFlood)).toBeLessThan(5);
  });
});

describe('an operator that starts again', () => {
  it('approves no node that reports the address of a stopped one, and the stopped one when it is back', async () => {
    const request = await askAs(liar, withAddress(liar, dark.address));
    const conflict = { kind: 'pending', reasons: ['IdentityConflict'] };
    const line = await lineFrom(0, request);
    expect(line).toMatchObject(conflict);
    expect(line['detail']).toContain(`"${dark.address}" with "${dark.name}"`);

    const start = operator.log().length;
    await operator.restart();
    expect(await lineFrom(start, request)).toMatchObject(conflict);

    await testbed.talos.start(dark.name);
    expect(await decisionOf(testbed, await askAs(dark))).toMatchObject(approved);
    await expectUntouched(request);
  });

  it('loses nothing of a flood of 150 users, behind which an honest request was before half of them', async () => {
    await setOptions(testbed, { enabled: false });
    const before = await revisionNow(testbed);
    const isFlood = (user: string) => user.startsWith('mallory-');
    const requests = await flood(
      testbed,
      (index) => ({ user: `mallory-${index}`, groups: ['testers'] }),
      forged,
      150,
    );
    const honest = await askAs(worker1);
    const start = operator.log().length;
    await setOptions(testbed, { enabled: true });

    await eventually(
      'some of the flood are decided',
      () =>
        operator
          .log()
          .slice(start)
          .filter(({ user = '' }) => isFlood(user)).length >= 20,
      { everyMs: 10 },
    );
    await operator.process.stop({ signal: 'SIGKILL' });
    const untilKilled = await decisionsSince(testbed, before);
    expect(floodedBefore(untilKilled, honest, isFlood)).toBeLessThan(75);
    expect(untilKilled.filter(({ user }) => isFlood(user)).length).toBeLessThan(150);

    await operator.restart();
    const denied = await eventually('all are decided', async () => {
      const seen = await decisionsSince(testbed, before);
      const denied = seen.filter(({ user }) => isFlood(user));
      return denied.length >= requests.length ? denied : notYet(denied.length);
    });
    expect(denied.map(({ request }) => request).sort()).toEqual(
      requests.map(({ name }) => name).sort(),
    );
    for (const decision of denied) {
      expect(decision).toMatchObject({ type: 'Denied', reason: 'RequesterNotNode' });
    }
    // Nobody decided anything twice.
    expect(await decisionOf(testbed, honest)).toMatchObject(approved);
    for (const { name } of requests.slice(0, 40)) {
      expect(await decisionOf(testbed, { name })).toMatchObject({ type: 'Denied' });
    }
  });

  it('waits for a node that hangs for the one try only that every machine gets', async () => {
    await operator.stop();
    await testbed.talos.freeze(frozen.name);
    const start = operator.log().length;
    const hanging = await askAs(frozen);
    const others = [await askAs(worker1), await askAs(worker2)];
    await operator.restart();

    for (const other of others) expect(await decisionOf(testbed, other)).toMatchObject(approved);
    // The operator has nothing to say about it yet: it still waits for the second try.
    const lines = operator.log().slice(start);
    expect(lines.filter(({ uid }) => uid === hanging.uid)).toEqual([]);
    await expectUntouched(hanging);
    await testbed.talos.unfreeze(frozen.name);
  });
});

describe('the control-plane endpoint', () => {
  it('is the machine’s own where it is the address of a single control plane', async () => {
    await anotherCluster([controlPlane, worker1], {
      kubernetes: { endpoint: `https://${controlPlane.address}:6443` },
    });
    expect(await decisionOf(testbed, await askAs(controlPlane))).toMatchObject(approved);
    const foreign = await askAs(worker1, withAddress(worker1, controlPlane.address));
    expect(await decisionOf(testbed, foreign)).toMatchObject({
      type: 'Denied',
      reason: 'NameOfAnotherMachine',
      message: `NameOfAnotherMachine: ${controlPlane.address} belongs to "${controlPlane.name}".`,
    });
    expect(await decisionOf(testbed, await askAs(worker1))).toMatchObject(approved);
  });

  it('is nobody’s where control planes share it, known or not', async () => {
    await anotherCluster([darkControlPlane, usurper]);
    const request = await askAs(usurper, withAddress(usurper, virtualAddress));
    const line = await lineFrom(0, request);
    expect(line).toMatchObject({ kind: 'pending', reasons: ['NodeUnreadable'] });
    expect(line['detail']).toContain('no control plane of the cluster has been read yet');
    await clusterCondition(testbed, 'Operational', {
      status: 'False',
      reason: 'ReservedRangesUnknown',
    });
    await expectUntouched(request);

    await testbed.talos.start(darkControlPlane.name);
    expect(await decisionOf(testbed, request)).toMatchObject({
      type: 'Denied',
      reason: 'NameReserved',
      message: `NameReserved: ${virtualAddress} is reserved.`,
    });
    const own = await askAs(usurper, { san: [dnsEntry(usurper.name), ipEntry(usurper.address)] });
    expect(await decisionOf(testbed, own)).toMatchObject(approved);
  });
});

describe('surroundings that fail', () => {
  it('Talos credentials that cannot be used are named, and used once they are mended', async () => {
    const secret = (config: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'broken-talos', namespace: operatorNamespace },
      stringData: { config },
    });
    await testbed.apply(secret('context: lab\ncontexts: [garbage'));
    await anotherCluster([controlPlane, worker1], {
      talos: { talosconfigSecretRef: { name: 'broken-talos' } },
      kubernetes: { endpoint: 'https://api.lab.example:6443' },
    });
    const named = `Secret ${operatorNamespace}/broken-talos, key config`;
    const request = await askAs(worker1);
    const line = await lineFrom(0, request);
    expect(line).toMatchObject({ kind: 'pending', reasons: ['NodeUnreadable'] });
    expect(line['detail']).toContain(named);
    const condition = await clusterCondition(testbed, 'Operational', {
      status: 'False',
      reason: 'TalosCredentialsUnusable',
    });
    expect(condition.message).toContain(named);

    const { data } = await readObject(
      testbed,
      `/api/v1/namespaces/${operatorNamespace}/secrets/lab-talos`,
    );
    await testbed.apply(secret(Buffer.from(data.config, 'base64').toString('utf8')));
    expect(await decisionOf(testbed, request)).toMatchObject(approved);
    await clusterCondition(testbed, 'Operational', { status: 'True', reason: 'Deciding' });
  });

  it('two TalosClusters with one API server are both left alone', async () => {
    await anotherCluster([controlPlane, worker1]);
    const lab = await readObject(testbed, clusterPath());
    await testbed.apply({
      apiVersion: lab.apiVersion,
      kind: lab.kind,
      metadata: { name: 'twin', namespace: operatorNamespace },
      spec: lab.spec,
    });
    const shared = { status: 'False', reason: 'SharedApiServer' } as const;
    const ofLab = await clusterCondition(testbed, 'Operational', shared);
    expect(ofLab.message).toContain('the TalosCluster twin has the same API server');
    const ofTwin = await clusterCondition(testbed, 'Operational', shared, 'twin');
    expect(ofTwin.message).toContain('the TalosCluster lab has the same API server');

    const request = await askAs(worker1);
    // What the operator has done meanwhile would show before it takes over these options.
    await setOptions(testbed, { enabled: true, maxExpirationSeconds: 86_400 });
    await expectUntouched(request);
    const beforeOff = await revisionNow(testbed);
    await patchObject(testbed, clusterPath('twin'), {
      spec: { security: { kubeletServingCertificates: { enabled: false } } },
    });
    expect(await decisionOf(testbed, request)).toMatchObject(approved);
    const [decision] = await decisionsSince(testbed, request.resourceVersion);
    expect(decision?.revision).toBeGreaterThan(BigInt(beforeOff));
  });

  it('an API server that restarts is followed again', async () => {
    await testbed.apiserver.restart();
    expect(await decisionOf(testbed, await askAs(worker1))).toMatchObject(approved);
    const forged = await askAs(worker1, withAddress(worker1, controlPlane.address));
    expect(await decisionOf(testbed, forged)).toMatchObject({
      type: 'Denied',
      reason: 'NameOfAnotherMachine',
    });
  });
});
