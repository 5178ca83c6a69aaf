import { expect, test } from 'vitest';
import { joinSome, quote, quoteUpTo } from './quote.ts';

test.for([
  ['worker-1', '"worker-1"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['line\nbreak', '"line\\u{a}break"'],
  ['\u001b[31m', '"\\u{1b}[31m"'],
  ['right\u202eleft', '"right\\u{202e}left"'],
  ['\ud800', '"\\u{d800}"'],
])('%j is quoted as %s', ([text, quoted]) => {
  expect(quote(text ?? '')).toBe(quoted);
});

test('what is long is cut, escapes included', () => {
  expect(quote('a'.repeat(120))).toBe(`"${'a'.repeat(120)}"`);
  expect(quote('a'.repeat(121))).toBe(`"${'a'.repeat(120)}"...`);
  expect(quote('\n'.repeat(100_000)).length).toBeLessThan(140);
});

test('what may be longer is cut later', () => {
  expect(quoteUpTo(130, 'a'.repeat(130))).toBe(`"${'a'.repeat(130)}"`);
  expect(quoteUpTo(130, 'a'.repeat(131))).toBe(`"${'a'.repeat(130)}"...`);
});

test('a long list names a few and counts the rest', () => {
  expect(joinSome(['a', 'b'], 2)).toBe('a; b');
  expect(joinSome(['a', 'b', 'c', 'd'], 2)).toBe('a; b; and 2 more');
});
