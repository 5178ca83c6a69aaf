import type { Kubelet } from './kubelet.ts';
import type { PhysicalMachine } from './physical-machine.ts';
import type { SafetyMonitor } from './safety-monitor.ts';
import { namesIn, type SimulatedWorld } from './simulated-world.ts';

/** Holds the world against what must be so once nothing has gone wrong for a while. */
export function checkCalm(
  world: SimulatedWorld,
  monitor: SafetyMonitor,
  kubelets: ReadonlyMap<PhysicalMachine, Kubelet>,
): void {
  for (const plan of world.clusters) {
    if (plan.name === 'edge' && plan.kubernetes === 0) continue;
    const machines = [...world.physical.values()].filter(
      (machine) =>
        machine.plan.cluster === plan.name && world.inventorySpec(machine.plan.name) !== undefined,
    );
    // A certificate whose request was deleted before anybody looked can no longer be found.
    const expected = machines.filter((machine) => {
      const request = kubelets.get(machine)?.certifiedBy;
      const isGone = request !== undefined && !world.hasRequest(plan.kubernetes, request);
      return mustBeCertified(world, machine) && !isGone;
    });
    const condition = conditionOf(world, plan.name);
    for (const machine of expected) {
      checkMachine(world, monitor, machine, kubelets.get(machine)?.satisfied === true, condition);
    }
    if (expected.length === machines.length && condition?.reason !== 'AllMachinesCertified') {
      monitor.violated('condition-wrong', `${plan.name} says ${condition?.message}`);
    }
  }
}

function checkMachine(
  world: SimulatedWorld,
  monitor: SafetyMonitor,
  machine: PhysicalMachine,
  isSatisfied: boolean,
  condition: SeenCondition | undefined,
): void {
  const { name } = machine.plan;
  const recorded = namesIn(world.machineStatus(name)['kubeletServingCertificate']);
  if (!isSatisfied) {
    monitor.violated('not-certified', `${name} waits: ${condition?.message}`);
  } else if (!machine.kubeletNames().every((asked) => recorded.includes(asked))) {
    monitor.violated('not-recorded', `${name} has ${recorded.join(', ')} on record`);
  } else if (condition?.status !== 'True' && condition?.message.includes(`${name} (`) === true) {
    monitor.violated('condition-wrong', `${name} is certified: ${condition.message}`);
  }
}

/** True for an honest machine that nobody else is said to be, in whole or in part. */
function mustBeCertified(world: SimulatedWorld, machine: PhysicalMachine): boolean {
  const { plan } = machine;
  if (plan.conduct !== 'honest' || machine.power !== 'up') return false;
  const sameNode = world
    .machinesOf(world.planOf(plan.cluster).kubernetes)
    .filter((other) => other !== machine && other.plan.nodeName === plan.nodeName);
  return (
    sameNode.length === 0 && !machine.kubeletNames().some((name) => world.isClaimed(name, machine))
  );
}

interface SeenCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

function conditionOf(world: SimulatedWorld, cluster: string): SeenCondition | undefined {
  const status = world.kubernetesOf(0).cluster(cluster)['status'] as
    | { readonly conditions?: readonly SeenCondition[] }
    | undefined;
  return status?.conditions?.find(({ type }) => type === 'KubeletServingCertificates');
}
