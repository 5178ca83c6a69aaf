import type { TalosMachine } from '@ichor/k8s-adapter';
import { describe, expect, it } from 'vitest';
import type { MachineFacts } from './machine-facts.ts';
import { indexMachines } from './machine-lookup.ts';
import type { KnownMachine } from './node-identity.ts';

/** A machine with the name that the inventory gives it and the one that it was heard to say. */
function machine(name: string, hostname: string | undefined, said: string | undefined) {
  const object: TalosMachine = {
    name,
    namespace: 'ichor-system',
    uid: `uid-${name}`,
    generation: 1,
    resourceVersion: '1',
    spec: { cluster: 'lab', machineType: 'worker', address: '10.5.0.11', hostname },
    status: { nodeName: undefined, identity: undefined, kubeletServingCertificate: undefined },
  };
  const facts: MachineFacts | undefined =
    said === undefined
      ? undefined
      : { nodeName: said, dnsNames: [], ipAddresses: [], reserved: undefined, observedAt: 0 };
  return { machine: object, facts };
}

/** Names of the machines that a node name leads to; more than one is a conflict. */
function found(machines: readonly KnownMachine[], nodeName: string): readonly string[] {
  const lookup = indexMachines(machines).byNodeName(nodeName);
  switch (lookup.kind) {
    case 'none':
      return [];
    case 'found':
      return [lookup.machine.name];
    case 'conflict':
      return lookup.machines.map(({ name }) => name);
  }
}

describe('a node name leads to', () => {
  it.each<[string, readonly KnownMachine[], readonly string[]]>([
    ['nobody where there is no machine', [], []],
    ['the machine that the inventory gives it', [machine('a', 'worker-1', undefined)], ['a']],
    ['that machine whatever it says', [machine('a', 'worker-1', 'other')], ['a']],
    [
      'the machine that said it, where no inventory does',
      [machine('a', undefined, 'worker-1')],
      ['a'],
    ],
    ['nobody while that machine was never read', [machine('a', undefined, undefined)], []],
    [
      'the one of the inventory, though another says it is its own',
      [machine('liar', undefined, 'worker-1'), machine('a', 'worker-1', undefined)],
      ['a'],
    ],
    [
      'the one of the inventory, though another named one says it is its own',
      [machine('liar', 'worker-2', 'worker-1'), machine('a', 'worker-1', undefined)],
      ['a'],
    ],
    [
      'both where the inventory gives it twice',
      [machine('a', 'worker-1', undefined), machine('b', 'worker-1', 'worker-1')],
      ['a', 'b'],
    ],
    [
      'both where two say it and the inventory gives it to none',
      [machine('a', undefined, 'worker-1'), machine('b', undefined, 'worker-1')],
      ['a', 'b'],
    ],
    ['the machine whose host name has capitals', [machine('a', 'Worker-1', undefined)], ['a']],
  ])('%s', (_, machines, expected) => {
    expect(found(machines, 'worker-1')).toEqual(expected);
  });

  it('nobody where a letter differs in case: Kubernetes compares byte for byte', () => {
    const machines = [machine('a', 'worker-1', 'worker-1')];
    expect(found(machines, 'Worker-1')).toEqual([]);
    expect(found(machines, 'worker-1')).toEqual(['a']);
  });
});

describe('the own user of a machine', () => {
  const one = [machine('a', 'worker-1', undefined)];
  const two = [machine('a', 'worker-1', undefined), machine('b', 'worker-1', undefined)];

  it.each([
    ['system:node:worker-1', one, 'a'],
    ['system:node:worker-1', two, undefined],
    ['system:node:worker-2', one, undefined],
    ['system:node:', one, undefined],
    ['system:nodes:worker-1', one, undefined],
    ['worker-1', one, undefined],
    [undefined, one, undefined],
  ])('%s', (user, machines, expected) => {
    expect(indexMachines(machines).ofUser(user)?.name).toBe(expected);
  });
});
