import { describe, expect, it } from 'vitest';
import { SafetyMonitor, type WrittenDecision } from './safety-monitor.ts';
import { SimulatedWorld, type Submission } from './simulated-world.ts';

/** A world, and a way to write a decision in it as the operator would. */
function setUp() {
  const world = new SimulatedWorld(1);
  const monitor = new SafetyMonitor(world);
  const [machine] = world.machinesOf(0);
  if (machine === undefined) throw new Error('seed 1 makes no machine');
  const { nodeName } = machine.plan;
  const honest: Submission = {
    kubernetes: 0,
    username: `system:node:${nodeName}`,
    nodeName,
    names: [nodeName],
    machine,
    honest: true,
  };
  const write = (request: string, type: WrittenDecision['type']) =>
    monitor.decisionWritten({
      cluster: 'lab',
      kubernetes: 0,
      before: world.kubernetesOf(0).request(request),
      type,
      reason: 'Test',
      message: '',
      calledAt: world.clock.now(),
      seenClusters: [],
      sharedSince: undefined,
      processDied: false,
    });
  const rules = () => monitor.violations.map((violation) => violation.split(':')[0]);
  return { world, honest, write, rules };
}

describe('the monitor', () => {
  it('accepts a denial of a stranger, and objects to an approval', () => {
    const { world, honest, write, rules } = setUp();
    const stranger = { ...honest, username: 'mallory', honest: false };
    write(world.submit(stranger), 'Denied');
    expect(rules()).toEqual([]);
    write(world.submit(stranger), 'Approved');
    expect(rules()).toContain('no-such-node');
  });

  it('objects to a second decision of ours, and to one over somebody else’s', () => {
    const { world, honest, write, rules } = setUp();
    const stranger = { ...honest, username: 'mallory', honest: false };
    const twice = world.submit(stranger);
    write(twice, 'Denied');
    expect(rules()).toEqual([]);
    write(twice, 'Denied');
    expect(rules()).toEqual(['decided-twice']);
    const byHand = world.submit(stranger);
    world.kubernetesOf(0).decideRequest(byHand, 'Approved', 'ByHand');
    write(byHand, 'Denied');
    expect(rules()).toEqual(['decided-twice', 'decided-twice']);
  });

  it('objects to any decision about another signer’s request', () => {
    const { world, honest, write, rules } = setUp();
    write(world.submit({ ...honest, honest: false, signerName: 'example.com/serving' }), 'Denied');
    expect(rules()).toEqual(['other-signer']);
  });
});
