import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineDifference } from './line-difference.ts';

const lines = (...numbers: (number | string)[]) => numbers.map((one) => `${one}\n`).join('');

/** Applies a difference to the text that it was made from, as patch(1) does. */
const patched = (before: string, difference: string): string => {
  const source = before.split('\n').slice(0, -1);
  const result: string[] = [];
  let at = 0;
  for (const line of difference.split('\n').slice(2, -1)) {
    const [, start, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? [];
    if (start !== undefined) {
      const from = Number(start) - (count === '0' ? 0 : 1);
      result.push(...source.slice(at, from));
      at = from;
    } else {
      if (line[0] !== '+') expect(source[at++]).toBe(line.slice(1));
      if (line[0] !== '-') result.push(line.slice(1));
    }
  }
  return [...result, ...source.slice(at)].map((line) => `${line}\n`).join('');
};

describe('lineDifference', () => {
  it('is nothing for the same text', () => {
    expect(lineDifference('a\n', 'a\n', 'x', 'y')).toBe('');
  });

  it('shows a change with three lines around it', () => {
    const before = lines(1, 2, 3, 4, 5, 6, 7, 8, 9);
    expect(lineDifference(before, before.replace('5\n', 'five\n'), 'x', 'y')).toBe(
      '--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
    );
  });

  it('shows changes far apart one after another', () => {
    const before = lines(...Array.from({ length: 20 }, (_, index) => index));
    const after = `new\n${before.replace('19\n', '')}`;
    expect(lineDifference(before, after, 'x', 'y')).toBe(
      '--- x\n+++ y\n@@ -1,3 +1,4 @@\n+new\n 0\n 1\n 2\n@@ -17,4 +18,3 @@\n 16\n 17\n 18\n-19\n',
    );
  });

  it('says where the last line has no end', () => {
    expect(lineDifference('a', 'a\n', 'x', 'y')).toContain(
      '-a\n\\ No newline at end of file\n+a\n',
    );
  });

  it('makes the one text of the other', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })
      .map((all) => lines(...all));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const difference = lineDifference(before, after, 'x', 'y');
        expect(difference === '' ? before : patched(before, difference)).toBe(after);
      }),
      { numRuns: 500 },
    );
  });
});
