import { expect, test } from 'vitest';
import { dottedOid } from './object-identifier.ts';

test.for([
  ['55 04 03', '2.5.4.3'],
  ['2a 86 48 86 f7 0d 01 09 0e', '1.2.840.113549.1.9.14'],
  ['00', '0.0'],
  ['27', '0.39'],
  ['28', '1.0'],
  ['4f', '1.39'],
  ['50', '2.0'],
  ['88 37', '2.999'],
  ['2a 90 80 80 80 80 80 80 00', `1.2.${2n ** 53n}`],
])('%s is %s', ([hex, dotted]) => {
  expect(dottedOid(Buffer.from((hex ?? '').replaceAll(' ', ''), 'hex'))).toBe(dotted);
});

test('arcs of any size are exact', () => {
  const uuid = '69 83 f1 c2 8c b1 ae d9 ac bd 9a d8 b5 e7 8a d0 b5 a4 93 07'.replaceAll(' ', '');
  const content = Buffer.from(uuid, 'hex');
  let arc = 0n;
  for (const octet of content.subarray(1)) arc = arc * 128n + BigInt(octet & 0x7f);
  expect(dottedOid(content)).toBe(`2.25.${arc}`);
});

test('what is far longer than any identifier in use is told in hex', () => {
  const arcs = (length: number) => Uint8Array.from({ length }, () => 0x2a);
  expect(dottedOid(arcs(64))).toBe(`1.2${'.42'.repeat(63)}`);
  expect(dottedOid(arcs(65))).toBe(`0x${'2a'.repeat(65)}`);
});
