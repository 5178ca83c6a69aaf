import { readFileSync } from 'node:fs';
// #region example
import { decideCsr, explain, type NodeReading } from '@ichor/policy';
import { buildRequest, dnsEntry, ipEntry } from '@ichor/policy/testing';
import { expect, test } from 'vitest';

// What the operating system of worker-1 says about itself, and what the cluster knows besides.
const reading: NodeReading = {
  kind: 'read',
  identity: {
    nodeName: 'worker-1',
    dnsNames: [{ value: 'worker-1', source: 'Nodename' }],
    ipAddresses: [{ value: '10.5.0.11', source: 'NodeIP' }],
    subnets: [],
    reserved: { dnsNames: ['api.lab.example'], ipAddresses: ['10.5.0.100'], subnets: [] },
    others: [
      { machine: 'cp-1', dnsNames: [], ipAddresses: [{ value: '10.5.0.2', source: 'NodeIP' }] },
    ],
  },
};

// In a cluster this is a certificates.k8s.io/v1 object, as an API client returns it.
const honest = buildRequest({ san: [dnsEntry('worker-1'), ipEntry('10.5.0.11')] });
const forged = buildRequest({ san: [dnsEntry('worker-1'), ipEntry('10.5.0.2')] });

const approval = decideCsr(honest, reading);
// { kind: 'approve', node: 'worker-1', evidence: [
//   { name: 'worker-1', kind: 'dns', source: 'Nodename' },
//   { name: '10.5.0.11', kind: 'ip', source: 'NodeIP' } ] }

const denial = decideCsr(forged, reading);
// { kind: 'deny', violations: [
//   { code: 'NameOfAnotherMachine', detail: '10.5.0.2 belongs to "cp-1".', machines: ['cp-1'] } ] }

const broken = explain(forged, reading).rules.filter(({ result }) => result.kind === 'violated');
// [{ code: 'NameOfAnotherMachine', question: 'Is every name free of what another machine holds?', … }]
// #endregion

const source = readFileSync(new URL(import.meta.url), 'utf8');
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('the example of the README is this one', () => {
  const region = source.split('// #region example\n')[1]?.split('// #endregion')[0];
  expect(region).toBeTruthy();
  expect(readme).toContain(`\`\`\`ts\n${region}\`\`\``);
});

test('the example says what it says', () => {
  expect(approval).toEqual({
    kind: 'approve',
    node: 'worker-1',
    evidence: [
      { name: 'worker-1', kind: 'dns', source: 'Nodename' },
      { name: '10.5.0.11', kind: 'ip', source: 'NodeIP' },
    ],
  });
  expect(denial).toEqual({
    kind: 'deny',
    violations: [
      {
        code: 'NameOfAnotherMachine',
        detail: '10.5.0.2 belongs to "cp-1".',
        machines: ['cp-1'],
      },
    ],
  });
  expect(broken.map(({ code, question }) => [code, question])).toEqual([
    ['NameOfAnotherMachine', 'Is every name free of what another machine holds?'],
  ]);
});
