import { expect, test } from 'vitest';
import { foldDnsName, isLdhName } from './dns-name.ts';

test.for([
  ['Worker-1.LAB.example', 'worker-1.lab.example'],
  ['worker-1.', 'worker-1'],
  ['worker-1..', 'worker-1.'],
  ['.', ''],
  ['wor\u212aer', 'wor\u212aer'],
  ['É', 'É'],
])('%j is compared as %j', ([name, folded]) => {
  expect(foldDnsName(name ?? '')).toBe(folded);
});

const label = 'a'.repeat(63);
const longest = `${label}.${label}.${label}.${'a'.repeat(61)}`;

// Each row: a name of LDH labels, and its nearest neighbour that is none.
test.for([
  ['a', ''],
  ['worker-1', 'worker-'],
  ['worker-1', '-worker'],
  ['worker-1', 'worker_1'],
  ['a.b', 'a..b'],
  ['a.b', '.a'],
  ['a.b', '*.b'],
  ['a.b', 'a b'],
  ['a.b', 'a.b\n'],
  ['ab', 'a\0b'],
  ['xn--bcher-kva', 'b\xfccher'],
  [label, `${label}a`],
  [longest, `${longest}a`],
])('%j is made of LDH labels, %j is not', ([right, wrong]) => {
  expect(isLdhName(right ?? '')).toBe(true);
  expect(isLdhName(wrong ?? '')).toBe(false);
});
