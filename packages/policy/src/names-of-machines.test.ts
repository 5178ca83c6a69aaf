import { describe, expect, test } from 'vitest';
import {
  decideCsr,
  identityConflicts,
  type NodeIdentity,
  othersHolding,
  violationsOfNames,
} from './index.ts';
import { baselineIdentity, buildRequest, dnsEntry } from './testing/index.ts';

const codes = (names: { dnsNames?: string[]; ipAddresses?: string[] }, options = {}) =>
  violationsOfNames(baselineIdentity, { dnsNames: [], ipAddresses: [], ...names }, options).map(
    ({ kind, name, code }) => `${kind} ${name} ${code}`,
  );

describe('violations of names', () => {
  test('are none for the node’s own', () => {
    expect(codes({ dnsNames: ['WORKER-1.'], ipAddresses: ['fd00:5:0::11', '10.5.0.11'] })).toEqual(
      [],
    );
  });

  test('say what each name is instead', () => {
    const names = {
      dnsNames: ['kubernetes', 'cp-1', 'nobody', 'worker-1'],
      ipAddresses: ['10.5.0.100', '10.5.0.12', '192.0.2.1', 'no address'],
    };
    const refused = [
      'dns kubernetes NameReserved',
      'dns cp-1 NameOfAnotherMachine',
      'ip 10.5.0.100 NameReserved',
      'ip 10.5.0.12 NameOfAnotherMachine',
    ];
    const unknown = [
      'dns nobody DnsNameNotOfNode',
      'ip 192.0.2.1 IpAddressNotOfNode',
      'ip no address IpAddressNotOfNode',
    ];
    expect(codes(names).toSorted()).toEqual([...refused, ...unknown].toSorted());
    expect(codes(names, { unknownNames: 'pending' })).toEqual(refused);
  });

  test('are every name for an identity that cannot be relied on', () => {
    const broken = { ...baselineIdentity, others: null } as unknown as NodeIdentity;
    const names = { dnsNames: ['worker-1'], ipAddresses: ['10.5.0.11'] };
    expect(violationsOfNames(broken, names)).toHaveLength(2);
    expect(violationsOfNames(baselineIdentity, names)).toHaveLength(0);
  });
});

describe('the machines to read again', () => {
  const rival = {
    machine: 'worker-9',
    dnsNames: [{ value: 'worker-1', source: 'HostnameStatus' }],
    ipAddresses: [],
  } as const;
  const contested = { ...baselineIdentity, others: [...baselineIdentity.others, rival] };

  test('are those that hold a name that is denied', () => {
    const request = buildRequest({ san: [dnsEntry('cp-1'), dnsEntry('nobody')] });
    const decision = decideCsr(request, { kind: 'read', identity: baselineIdentity });
    expect(decision.kind).toBe('deny');
    expect(othersHolding(baselineIdentity, decision)).toEqual(['cp-1']);
  });

  test('are those in conflict', () => {
    const decision = decideCsr(buildRequest(), { kind: 'read', identity: contested });
    expect(decision).toMatchObject({ kind: 'pending', reason: 'IdentityConflict' });
    expect(othersHolding(contested, decision)).toEqual(['worker-9']);
    expect(identityConflicts(contested)).toEqual([
      { kind: 'dns', value: 'worker-1', machines: ['worker-9'] },
    ]);
    expect(identityConflicts(baselineIdentity)).toEqual([]);
  });

  test('are both, for names without a decision', () => {
    const names = { dnsNames: ['cp-1'], ipAddresses: ['10.5.0.12'] };
    expect(othersHolding(contested, names)).toEqual(['cp-1', 'worker-2', 'worker-9']);
  });

  test('are none for an approval', () => {
    const decision = decideCsr(buildRequest(), { kind: 'read', identity: baselineIdentity });
    expect(decision.kind).toBe('approve');
    expect(othersHolding(baselineIdentity, decision)).toEqual([]);
  });
});
