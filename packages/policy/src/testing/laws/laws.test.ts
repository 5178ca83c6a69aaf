import { describe, expect, it } from 'vitest';
import { faultTable } from '../faults/fault-table.ts';
import { buildCase } from '../request-case.ts';
import { decisionLaws } from './decision-laws.ts';
import { hostileLaws } from './hostile-laws.ts';
import type { Decide, DecisionLaw } from './law.ts';
import { isInSubnet, mayBeCertified, seenByPkijs } from './permission-oracle.ts';

const run = { seed: 11, cases: 25, shrink: false };

function brokenBy(decide: Decide): string[] {
  const laws: readonly DecisionLaw[] = [
    ...decisionLaws({ decide, build: buildCase, faults: faultTable }),
    ...hostileLaws(decide),
  ];
  return laws.flatMap(({ name, check }) => {
    try {
      check(run);
      return [];
    } catch {
      return [name];
    }
  });
}

const approveAll: Decide = (_, reading) => ({
  kind: 'approve',
  node: reading.kind === 'read' ? reading.identity.nodeName : 'nobody',
  evidence: [],
});

// Keys are made on first use, which takes seconds on a busy machine.
describe('the laws', { timeout: 120_000 }, () => {
  it('are broken by what approves everything', () => {
    const broken = brokenBy(approveAll);
    expect(broken).toContain('nothing read, nothing approved, and nothing said of names');
    expect(broken).toContain('a foreign name more never ends in an approval');
    expect(broken).toContain(
      'whatever is approved is the requester’s own, as another parser and another model see it',
    );
    expect(broken).toContain('any bytes give a decision');
  });

  it('are broken by what denies everything', () => {
    const denyAll: Decide = () => ({
      kind: 'deny',
      violations: [{ code: 'RequestMalformed', detail: 'No.' }],
    });
    const broken = brokenBy(denyAll);
    expect(broken).toContain('an honest request is approved, with evidence for exactly its names');
    expect(broken).toContain('a request with one fault earns exactly the reasons of that fault');
    expect(broken).not.toContain('a foreign name more never ends in an approval');
  });

  it('are broken by what throws or changes its mind', () => {
    const throwing: Decide = () => {
      throw new RangeError('offset outside the bounds');
    };
    expect(brokenBy(throwing)).toContain('any bytes give a decision');
    let calls = 0;
    const fickle: Decide = () => {
      calls += 1;
      return { kind: 'pending', reason: 'NodeUnreadable', detail: String(calls) };
    };
    expect(brokenBy(fickle)).toContain(
      'the same inputs give the same decision and stay as they are',
    );
  });

  it('are broken by what trusts the names that a request brings along', () => {
    const trusting: Decide = (csr, reading) => {
      if (reading.kind !== 'read') return { kind: 'pending', reason: 'NodeUnreadable', detail: '' };
      const ours = csr.spec.username === `system:node:${reading.identity.nodeName}`;
      if (!ours) return { kind: 'pending', reason: 'NodeNotManaged', detail: '' };
      return approveAll(csr, reading, {});
    };
    expect(brokenBy(trusting)).toContain('a foreign name more never ends in an approval');
  });
});

describe('the plain model', () => {
  it.each([
    ['0a60ffff', '10.96.0.0/12', true],
    ['0a5fffff', '10.96.0.0/12', false],
    ['0a700000', '10.96.0.0/12', false],
    ['fe80'.padEnd(32, '0'), 'fe80::/10', true],
    ['0a600001', '::/0', false],
  ])('finds %s in %s: %s', (address, cidr, expected) => {
    expect(isInSubnet(address, cidr)).toBe(expected);
  });

  it('grants the baseline and nothing of a neighbour', () => {
    const identity = {
      nodeName: 'worker-1',
      dnsNames: [{ value: 'Worker-1.', source: 'Nodename' }],
      ipAddresses: [{ value: '10.5.0.11', source: 'NodeIP' }],
      subnets: [{ value: '10.5.0.0/24', source: 'Configured' }],
      reserved: { dnsNames: [], ipAddresses: ['10.5.0.100'], subnets: [] },
      others: [
        {
          machine: 'worker-2',
          dnsNames: [],
          ipAddresses: [{ value: '10.5.0.12', source: 'NodeIP' }],
        },
      ],
    } as const;
    const ip = (value: string) => ({ kind: 'ip', value }) as const;
    expect(mayBeCertified({ kind: 'dns', value: 'worker-1' }, identity)).toBe(true);
    expect(mayBeCertified(ip('0a05000b'), identity)).toBe(true);
    expect(mayBeCertified(ip('0a05000d'), identity)).toBe(true);
    expect(mayBeCertified(ip('0a05000c'), identity)).toBe(false);
    expect(mayBeCertified(ip('0a050064'), identity)).toBe(false);
    expect(mayBeCertified(ip(`${'0'.repeat(20)}ffff0a05000b`), identity)).toBe(false);
    expect(mayBeCertified({ kind: 'dns', value: 'localhost' }, identity)).toBe(false);
  });
});

describe('seenByPkijs', () => {
  it('sees subject and names of a request', () => {
    const parts = { san: [], reading: { kind: 'unmanaged' }, options: {} } as const;
    const identity = { nodeName: '', dnsNames: [], ipAddresses: [], subnets: [], others: [] };
    const reserved = { dnsNames: [], ipAddresses: [], subnets: [] };
    const { csr } = buildCase({ ...parts, changes: {}, identity: { ...identity, reserved } });
    expect(seenByPkijs(csr)).toEqual({
      subject: [
        ['2.5.4.10', 'system:nodes'],
        ['2.5.4.3', 'system:node:worker-1'],
      ],
      names: [
        { kind: 'dns', value: 'worker-1' },
        { kind: 'ip', value: '0a05000b' },
        { kind: 'ip', value: 'fd000005000000000000000000000011' },
      ],
      otherEntries: 0,
    });
  });
});
