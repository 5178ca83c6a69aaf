import { expect, test } from 'vitest';
import { rawEcdsaSignature } from './ecdsa-signature.ts';

const raw = (hex: string) => {
  const signature = rawEcdsaSignature(
    new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex')),
    'P-256',
  );
  return signature && Buffer.from(signature).toString('hex');
};
const octets32 = 'ff'.repeat(32);

test('two numbers are padded to the width of the curve', () => {
  expect(raw('30 06 02 01 01 02 01 02')).toBe(`${'00'.repeat(31)}01${'00'.repeat(31)}02`);
  expect(raw(`30 46 02 21 00 ${octets32} 02 21 00 ${octets32}`)).toBe(octets32 + octets32);
});

test.for([
  ['', 'nothing'],
  ['30 06 02 01 00 02 01 02', 'zero'],
  ['30 06 02 01 81 02 01 02', 'a negative number'],
  ['30 07 02 02 00 01 02 01 02', 'a number that is not minimal'],
  ['30 06 02 01 01 02 01 02 00', 'a byte behind the pair'],
  ['30 09 02 01 01 02 01 02 02 01 03', 'three numbers'],
  ['30 06 02 01 01 04 01 02', 'a string in place of a number'],
  ['31 06 02 01 01 02 01 02', 'a SET'],
  [`30 47 02 22 01 00 ${octets32} 02 21 00 ${octets32}`, 'a number wider than the curve'],
])('%s is no signature: %s', ([hex]) => {
  expect(raw(hex ?? '')).toBeUndefined();
});

test('a curve that is not permitted has no signatures', () => {
  const one = new Uint8Array(Buffer.from('3006020101020102', 'hex'));
  expect(rawEcdsaSignature(one, 'P-256')).toBeDefined();
  expect(rawEcdsaSignature(one, 'secp256k1')).toBeUndefined();
});
