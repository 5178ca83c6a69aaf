import type { TalosMachine } from '@ichor/k8s-adapter';
import { foldDnsName, nodeNameOf } from '@ichor/policy';

import type { KnownMachine } from './node-identity.ts';

/** Which machine has a node name: one, none, or more than one. */
export type MachineLookup =
  | { readonly kind: 'found'; readonly machine: TalosMachine }
  | { readonly kind: 'conflict'; readonly machines: readonly TalosMachine[] }
  | { readonly kind: 'none' };

/** Finds machines by node name. */
export interface MachineIndex {
  byNodeName(nodeName: string): MachineLookup;
  /** The machine whose own user this is; undefined where there is none, or more than one. */
  ofUser(username: string | undefined): TalosMachine | undefined;
}

/**
 * Indexes machines by node name: `spec.hostname` first, which the administrator wrote, then the
 * node name that was read from the node. Two machines with one `spec.hostname`, or with one read
 * name that is nobody's `spec.hostname`, are a conflict for both; otherwise `spec.hostname` wins,
 * so that a node which takes another's name takes nothing.
 */
export function indexMachines(machines: readonly KnownMachine[]): MachineIndex {
  const byHostname = new Map<string, TalosMachine[]>();
  const byReadName = new Map<string, TalosMachine[]>();
  for (const { machine, facts } of machines) {
    const { hostname } = machine.spec;
    if (hostname !== undefined) add(byHostname, foldDnsName(hostname), machine);
    if (facts?.nodeName !== undefined) add(byReadName, facts.nodeName, machine);
  }
  const byNodeName = (nodeName: string): MachineLookup => {
    const found = byHostname.get(nodeName) ?? byReadName.get(nodeName) ?? [];
    const [only, second] = found;
    if (only === undefined) return { kind: 'none' };
    return second === undefined
      ? { kind: 'found', machine: only }
      : { kind: 'conflict', machines: found };
  };
  return {
    byNodeName,
    ofUser: (username) => {
      const nodeName = nodeNameOf(username ?? '');
      const found = nodeName === undefined ? undefined : byNodeName(nodeName);
      return found?.kind === 'found' ? found.machine : undefined;
    },
  };
}

/** The machines that a node name leads to: one, all that share it, or none. */
export function machinesOf(found: MachineLookup): readonly TalosMachine[] {
  switch (found.kind) {
    case 'found':
      return [found.machine];
    case 'conflict':
      return found.machines;
    case 'none':
      return [];
  }
}

function add(index: Map<string, TalosMachine[]>, name: string, machine: TalosMachine): void {
  const known = index.get(name);
  if (known === undefined) index.set(name, [machine]);
  else known.push(machine);
}
