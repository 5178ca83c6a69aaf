import { describe, expect, it } from 'vitest';
import { ipText } from './ip-text.ts';

const bytes = (hex: string) => Buffer.from(hex, 'hex');

describe('ipText', () => {
  it.each([
    ['0a050015', '10.5.0.21'],
    ['00000000', '0.0.0.0'],
    ['00000000000000000000000000000000', '::'],
    ['00000000000000000000000000000001', '::1'],
    ['fd000000000000000000000000000021', 'fd00::21'],
    ['20010db8000000000001000000000001', '2001:db8::1:0:0:1'],
    ['20010db8000000010000000000000001', '2001:db8:0:1::1'],
    ['20010db8000100010001000100000001', '2001:db8:1:1:1:1:0:1'],
    ['20010db8000000000000000000000000', '2001:db8::'],
    ['00000000000000000000ffff0a050015', '::ffff:10.5.0.21'],
  ])('writes %s as %s', (hex, text) => {
    expect(ipText(bytes(hex))).toBe(text);
  });

  it.each([0, 3, 5, 15, 17, 20])('has no text for %i bytes', (length) => {
    expect(ipText(new Uint8Array(length))).toBeUndefined();
  });
});
