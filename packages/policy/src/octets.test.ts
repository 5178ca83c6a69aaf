import { expect, test } from 'vitest';
import { textOfUtf8, utf8Octets } from './octets.ts';

test.for(['', 'worker-1', 'é', '‐', '😀', '\u0000\u007f\u0080\u07ff\u0800\uffff'])(
  'UTF-8 of %j goes there and back',
  (text) => {
    expect(utf8Octets(text)).toBe(Buffer.from(text, 'utf8').toString('latin1'));
    expect(textOfUtf8(utf8Octets(text))).toBe(text);
  },
);

test.for([
  ['\xc0\xaf', 'an overlong form of two octets'],
  ['\xe0\x80\xaf', 'an overlong form of three octets'],
  ['\xf0\x80\x80\xaf', 'an overlong form of four octets'],
  ['\xed\xa0\x80', 'a surrogate'],
  ['\xf4\x90\x80\x80', 'a value above U+10FFFF'],
  ['\xe2\x80', 'a cut-off sequence'],
  ['\x80', 'a continuation without a lead'],
  ['\xc3(', 'a lead without a continuation'],
])('%j is not UTF-8: %s', ([octets]) => {
  expect(textOfUtf8(octets ?? '')).toBeUndefined();
});

test('a lone surrogate becomes octets that no text has', () => {
  expect(textOfUtf8(utf8Octets('\ud800'))).toBeUndefined();
  expect(textOfUtf8(utf8Octets('\ud83d\ude00'))).toBe('😀');
});
