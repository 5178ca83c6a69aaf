import type { TalosCluster, TalosMachine } from '@ichor/k8s-adapter';
import type { NodeReadings } from './node-readings.ts';
import type { OperationalState } from './plan-conditions.ts';
import type { ReadMachine } from './plan-decision.ts';

/** What the reconciler works on, as the inventory has it. */
export interface ClusterView {
  readonly cluster: TalosCluster;
  /** Machines of this cluster and of no other. */
  readonly machines: readonly TalosMachine[];
  /** Why nothing may be decided, where something forbids it. */
  readonly blocked: OperationalState | undefined;
  /** What people should know though work goes on. */
  readonly notice: OperationalState | undefined;
}

/** Machines with what is known about each. */
export function observeMachines(view: ClusterView, readings: NodeReadings): readonly ReadMachine[] {
  return view.machines.map((machine) => {
    const state = readings.stateOf(machine);
    return { machine, facts: state.facts, state };
  });
}
