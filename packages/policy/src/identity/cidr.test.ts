import { expect, test } from 'vitest';
import { contains, parseCidr, unmapCidr } from './cidr.ts';
import { parseIpAddress } from './ip-address.ts';

function holds(range: string, address: string): boolean {
  const cidr = parseCidr(range);
  const octets = parseIpAddress(address);
  if (cidr === undefined || octets === undefined) throw new Error(`${range} or ${address}`);
  return contains(unmapCidr(cidr), octets);
}

// Each row: a range, the outermost address inside it, and the nearest one outside.
test.for([
  ['10.96.0.0/12', '10.96.0.0', '10.95.255.255'],
  ['10.96.0.0/12', '10.111.255.255', '10.112.0.0'],
  ['10.97.1.1/12', '10.96.0.0', '10.95.255.255'],
  ['10.5.0.100', '10.5.0.100', '10.5.0.101'],
  ['10.5.0.0/24', '10.5.0.255', '10.5.1.0'],
  ['10.5.0.2/31', '10.5.0.3', '10.5.0.4'],
  ['0.0.0.0/0', '255.255.255.255', '::'],
  ['fe80::/10', 'febf:ffff::', 'fec0::'],
  ['::/0', 'ffff::', '10.5.0.1'],
  ['fd00:5::11', 'fd00:5::11', 'fd00:5::12'],
  ['::ffff:10.96.0.0/108', '10.111.255.255', '10.112.0.0'],
])('%s holds %s and not %s', ([range, inside, outside]) => {
  expect(holds(range ?? '', inside ?? '')).toBe(true);
  expect(holds(range ?? '', outside ?? '')).toBe(false);
});

test.for([
  '',
  '/24',
  '10.5.0.0/',
  '10.5.0.0/33',
  '10.5.0.0/+8',
  '10.5.0.0/08',
  '10.5.0.0/24/8',
  'fd00::/129',
  'lab',
])('%j is no range', (text) => {
  expect(parseCidr(text)).toBeUndefined();
});
