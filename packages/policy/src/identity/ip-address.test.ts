import { expect, test } from 'vitest';
import { addressOf, formatIpAddress, parseIpAddress, unmapAddress } from './ip-address.ts';

const octets = (hex: string) => addressOf([...Buffer.from(hex, 'hex')]);

test.for([
  ['10.5.0.11', '0a05000b', '10.5.0.11'],
  ['255.255.255.255', 'ffffffff', '255.255.255.255'],
  ['::', '00'.repeat(16), '::'],
  ['::1', `${'00'.repeat(15)}01`, '::1'],
  ['1::', `0001${'00'.repeat(14)}`, '1::'],
  ['FD00:5:0:0:0:0:0:11', 'fd000005000000000000000000000011', 'fd00:5::11'],
  ['fd00:5::0011', 'fd000005000000000000000000000011', 'fd00:5::11'],
  ['1:2:3:4:5:6:7::', '00010002000300040005000600070000', '1:2:3:4:5:6:7:0'],
  ['1:0:0:2:0:0:0:3', '00010000000000020000000000000003', '1:0:0:2::3'],
  ['1:0:0:2:0:0:3:4', '00010000000000020000000000030004', '1::2:0:0:3:4'],
  ['::ffff:10.5.0.11', '00000000000000000000ffff0a05000b', '::ffff:10.5.0.11'],
  ['0:0:0:0:0:ffff:a05:b', '00000000000000000000ffff0a05000b', '::ffff:10.5.0.11'],
  ['64:ff9b::10.5.0.11', '0064ff9b00000000000000000a05000b', '64:ff9b::a05:b'],
  ['1:2:3:4:5:6:1.2.3.4', '00010002000300040005000601020304', '1:2:3:4:5:6:102:304'],
])('%s is read, and written canonically', ([text, hex, canonical]) => {
  const address = parseIpAddress(text ?? '');
  expect(address).toBe(octets(hex ?? ''));
  expect(formatIpAddress(address ?? '')).toBe(canonical);
});

test.for([
  '',
  '10.5.0',
  '10.5.0.11.1',
  '10.5.0.256',
  '10.5.0.011',
  '10.5.0.',
  '10.5.0.1 ',
  '0x0a.5.0.11',
  '10.5.0.11/24',
  ':',
  ':::',
  '1:',
  ':1',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4:5:6:7:8::',
  '::12345',
  'fe80::1%eth0',
  '[::1]',
  '1.2.3.4::',
  '::1.2.3.4:5',
  '::1.2.3',
  `${'0'.repeat(10_000)}:1`,
])('%j is no address', (text) => {
  expect(parseIpAddress(text)).toBeUndefined();
});

test('only IPv4-mapped addresses are unmapped', () => {
  expect(unmapAddress(octets('00000000000000000000ffff0a05000b'))).toBe(octets('0a05000b'));
  const compatible = octets('0000000000000000000000000a05000b');
  expect(unmapAddress(compatible)).toBe(compatible);
  expect(unmapAddress(octets('0a05000b'))).toBe(octets('0a05000b'));
});

test('octets that are no address are written all the same', () => {
  expect(formatIpAddress(octets('0a05'))).toBe('0x0a05');
});
