import { expect, test } from 'vitest';
import { decodeBase64, encodeBase64 } from './base64.ts';

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('latin1');

test.for([
  ['', ''],
  ['Zg==', 'f'],
  ['Zm8=', 'fo'],
  ['Zm9v', 'foo'],
  ['+/+/', '\xfb\xff\xbf'],
])('%s is the base64 of "%s"', ([encoded, decoded]) => {
  expect(text(decodeBase64(encoded ?? ''))).toBe(decoded);
  expect(encodeBase64(Buffer.from(decoded ?? '', 'latin1'))).toBe(encoded);
});

test.for([
  ['Zg', 'padding is missing'],
  ['Zh==', 'spare bits are set'],
  ['Zm9=', 'spare bits are set behind two octets'],
  ['Z===', 'one digit is no octet'],
  ['====', 'padding alone'],
  ['Zg==Zg==', 'something follows padding'],
  ['Zm 9v', 'a blank'],
  ['Zm9v\n', 'a line feed'],
  ['Zm-_', 'the alphabet of base64url'],
  ['Zm9\u0176', 'a character whose low byte is a digit'],
])('%j is refused: %s', ([encoded]) => {
  expect(decodeBase64(encoded ?? '')).toBeUndefined();
});

test('every octet survives, at every length', () => {
  for (let length = 0; length < 260; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + length) & 0xff);
    const encoded = encodeBase64(bytes);
    expect(encoded).toBe(Buffer.from(bytes).toString('base64'));
    expect(decodeBase64(encoded)).toEqual(bytes);
  }
});
