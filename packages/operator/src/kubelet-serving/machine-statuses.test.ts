import {
  KubeError,
  type MachineStatusApply,
  type ServingCertificateRecord,
  type TalosMachine,
} from '@ichor/k8s-adapter';
import { describe, expect, it } from 'vitest';
import { OperatorWorld } from '../testing/operator-world.ts';
import type { MachineFacts } from './machine-facts.ts';
import { MachineStatuses, statusRetryMs } from './machine-statuses.ts';

const machine: TalosMachine = {
  name: 'worker-1',
  namespace: 'ns',
  uid: 'uid-worker-1',
  generation: 1,
  resourceVersion: '1',
  spec: { cluster: 'lab', machineType: 'worker', address: '10.5.0.11', hostname: 'worker-1' },
  status: { nodeName: undefined, identity: undefined, kubeletServingCertificate: undefined },
};
const facts: MachineFacts = {
  nodeName: 'worker-1',
  dnsNames: [{ value: 'worker-1', source: 'Nodename' }],
  ipAddresses: [{ value: '10.5.0.11', source: 'NodeIP' }],
  reserved: undefined,
  observedAt: 0,
};
const record: ServingCertificateRecord = {
  request: 'csr-1',
  issuedAt: '2026-12-01T12:00:00Z',
  notAfter: '2027-12-01T12:00:00Z',
  dnsNames: ['worker-1'],
  ipAddresses: ['10.5.0.11'],
  fingerprint: '00'.repeat(32),
  adopted: false,
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Statuses whose writes a test answers one by one. */
function writesInHand() {
  const writes: {
    readonly status: MachineStatusApply;
    readonly done: () => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const failures: unknown[] = [];
  let now = 0;
  const statuses = new MachineStatuses(
    {
      applyMachineStatus: (_name, status) =>
        new Promise((done, fail) => {
          writes.push({ status, done, fail });
        }),
    },
    { now: () => now },
    (_machine, error) => failures.push(error),
  );
  const nth = async (index: number) => {
    await turn();
    const write = writes[index];
    if (write === undefined) throw new Error(`there are ${writes.length} writes`);
    return write;
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { statuses, writes, nth, failures, pass };
}

describe('the status of a machine', () => {
  it('is written once more with what was put while it was written', async () => {
    const { statuses, writes, nth } = writesInHand();
    statuses.putFacts(machine, facts);
    const first = await nth(0);
    expect(first.status).not.toHaveProperty('kubeletServingCertificate');
    statuses.putRecord(machine, record);
    statuses.retry([machine]);
    statuses.retry([machine]);
    first.done();
    const second = await nth(1);
    expect(second.status).toMatchObject({
      nodeName: 'worker-1',
      kubeletServingCertificate: record,
    });
    second.done();
    await statuses.flush(machine);
    expect(writes).toHaveLength(2);
  });

  it('that could not be written is tried again after a pause, however often it is looked at', async () => {
    const { statuses, writes, nth, failures, pass } = writesInHand();
    statuses.putFacts(machine, facts);
    (await nth(0)).fail(new KubeError('unavailable', 'The API server did not answer.'));
    await turn();
    expect(failures).toMatchObject([{ message: 'The API server did not answer.' }]);
    pass(statusRetryMs - 1);
    for (let looks = 0; looks < 5; looks += 1) statuses.retry([machine]);
    await turn();
    expect(writes).toHaveLength(1);

    pass(1);
    for (let looks = 0; looks < 5; looks += 1) statuses.retry([machine]);
    (await nth(1)).done();
    await turn();
    statuses.retry([machine]);
    await turn();
    expect(writes).toHaveLength(2);
  });

  it('is not lost to somebody who still works with the machine that had the name before', async () => {
    const { statuses, writes, nth } = writesInHand();
    const successor = { ...machine, uid: 'uid-successor' };
    statuses.putFacts(successor, facts);
    (await nth(0)).fail(new KubeError('unavailable', 'The API server did not answer.'));
    await turn();
    await statuses.flush(machine);
    expect(writes).toHaveLength(1);
    const flushed = statuses.flush(successor);
    const again = await nth(1);
    expect(again.status).toMatchObject({ nodeName: 'worker-1' });
    again.done();
    await flushed;
  });

  it('keeps a certificate while the same node answers, and drops it with the node', async () => {
    const { statuses, nth } = writesInHand();
    statuses.putFacts(machine, facts);
    statuses.putRecord(machine, record);
    (await nth(0)).done();
    await turn();
    statuses.putFacts(machine, {
      ...facts,
      ipAddresses: [{ value: '10.5.0.12', source: 'NodeIP' }],
    });
    expect(statuses.recordOf(machine)).toEqual(record);
    statuses.putFacts(machine, { ...facts, nodeName: 'worker-9' });
    expect(statuses.recordOf(machine)).toBeUndefined();
  });

  it('of a machine that was deleted is no failure, but nothing may rest on it', async () => {
    const { statuses, nth, failures } = writesInHand();
    const notFound = new KubeError('notFound', 'worker-1 does not exist.', { status: 404 });
    statuses.putFacts(machine, facts);
    (await nth(0)).fail(notFound);
    await turn();
    expect(failures).toEqual([]);
    const refused = expect(statuses.flush(machine)).rejects.toBe(notFound);
    (await nth(1)).fail(notFound);
    await refused;
    const stored = statuses.flush(machine);
    (await nth(2)).done();
    await expect(stored).resolves.toBeUndefined();
  });

  it('is not written any more once it is closed, which waits for the write on its way', async () => {
    const { statuses, writes, nth } = writesInHand();
    statuses.putFacts(machine, facts);
    const write = await nth(0);
    let closed = false;
    const closing = statuses.close().then(() => {
      closed = true;
    });
    statuses.putFacts(machine, { ...facts, nodeName: 'worker-9' });
    await turn();
    expect(closed).toBe(false);
    write.fail(new KubeError('unavailable', 'The API server did not answer.'));
    await closing;
    statuses.putRecord(machine, record);
    await turn();
    expect(writes).toHaveLength(1);
  });
});

describe('the operator', () => {
  it('repeats a status write that failed though nothing else happens', async () => {
    let failures = 0;
    const world = new OperatorWorld({
      intercept: ({ operation }) => {
        if (operation !== 'applyMachineStatus' || failures === 3) return;
        failures += 1;
        throw new KubeError('unavailable', 'The API server did not answer.');
      },
    });
    world.start();
    await world.run(statusRetryMs - 1);
    // Each of the three machines has been tried once.
    expect(failures).toBe(3);
    expect(world.machineStatus('worker-1')).toEqual({});
    await world.run(statusRetryMs);
    expect(world.machineStatus('worker-1')).toMatchObject({ nodeName: 'worker-1' });
    await world.stop();
  });
});
