import type { TalosMachine } from '@ichor/k8s-adapter';
import type { NodeFacts } from '@ichor/talos-client';
import { describe, expect, it } from 'vitest';
import { virtualClock } from '../testing/virtual-clock.ts';
import { NodeReadings } from './node-readings.ts';

const machine: TalosMachine = {
  name: 'worker-1',
  namespace: 'ns',
  uid: 'uid-worker-1',
  generation: 1,
  resourceVersion: '1',
  spec: { cluster: 'lab', machineType: 'worker', address: '10.5.0.11', hostname: 'worker-1' },
  status: { nodeName: undefined, identity: undefined, kubeletServingCertificate: undefined },
};
const said: NodeFacts = {
  nodeName: 'worker-1',
  nodeIps: ['10.5.0.11'],
  hostname: 'worker-1',
  domainname: '',
  externalAddresses: [],
  platformNames: [],
  excludeSubnets: undefined,
  route: 'direct',
};

/** Readings whose answers a test gives. */
function readingsInHand() {
  const answers: ((facts: NodeFacts) => void)[] = [];
  const ended: string[] = [];
  const readings = new NodeReadings(
    () => ({
      readNodeFacts: () => new Promise((resolve) => answers.push(resolve)),
      close: () => undefined,
    }),
    virtualClock(0),
    ({ uid }) => ended.push(uid),
  );
  return { readings, answers, ended };
}

describe('what a machine says', () => {
  it('is known once it has answered', async () => {
    const { readings, answers, ended } = readingsInHand();
    const reading = readings.read(machine);
    readings.keepOnly([machine]);
    answers[0]?.(said);
    await reading;
    expect(ended).toEqual(['uid-worker-1']);
    expect(readings.stateOf(machine).facts?.nodeName).toBe('worker-1');
  });

  it('is nothing to the machine that was made anew under its name meanwhile', async () => {
    const { readings, answers, ended } = readingsInHand();
    const successor = { ...machine, uid: 'uid-successor' };
    const reading = readings.read(machine);
    readings.keepOnly([successor]);
    answers[0]?.(said);
    await reading;
    expect(ended).toEqual([]);
    expect(readings.stateOf(successor)).toMatchObject({ facts: undefined, triedAt: undefined });
  });
});
