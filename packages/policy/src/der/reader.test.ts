import { describe, expect, test } from 'vitest';
import { Malformed } from './malformed.ts';
import { readDer } from './reader.ts';

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

function problemOf(hex: string): string {
  try {
    readDer(bytes(hex));
  } catch (error) {
    return error instanceof Malformed ? error.problem : String(error);
  }
  return 'none';
}

const length = 'a length is not minimal';
const cutOff = 'an element is cut off';
const longer = 'an element is longer than what holds it';

// Each row: what is wrong, and its nearest canonical neighbour.
test.for([
  ['', cutOff, '0500'],
  ['30', cutOff, '3000'],
  ['3001', longer, '3000'],
  ['30 02 05 01', longer, '30 02 05 00'],
  ['05 00 00', '1 bytes follow an element of DER', '05 00'],
  ['30 80 00 00', 'a length is indefinite', '30 00'],
  ['04 81 01 00', length, '04 01 00'],
  [`04 82 00 80 ${'00'.repeat(128)}`, length, `04 81 80 ${'00'.repeat(128)}`],
  ['04 85 00 00 00 00 01 00', longer, '04 01 00'],
  ['04 ff', longer, '04 00'],
  ['1f 02 01 00', 'a tag number below 31 is written in the long form', '02 01 00'],
  ['9f 1e 00', 'a tag number below 31 is written in the long form', '9f 1f 00'],
  ['9f 80 1f 00', 'a tag number is padded', '9f 81 1f 00'],
  ['9f 81', cutOff, '9f 81 1f 00'],
  ['00 00', 'a reserved universal tag is used', '05 00'],
  ['0f 00', 'a reserved universal tag is used', '30 00'],
  ['10 00', 'a constructed type is written in primitive form', '30 00'],
  ['2c 03 0c 01 61', 'a primitive type is written in constructed form', '0c 01 61'],
  ['24 03 04 01 00', 'a primitive type is written in constructed form', '04 01 00'],
  ['01 01 01', 'a BOOLEAN is neither 00 nor FF', '01 01 ff'],
  ['01 00', 'a BOOLEAN is neither 00 nor FF', '01 01 00'],
  ['02 00', 'an INTEGER has no content', '02 01 00'],
  ['02 02 00 7f', 'an INTEGER is not minimal', '02 02 00 80'],
  ['02 02 ff 80', 'an INTEGER is not minimal', '02 02 ff 7f'],
  ['0a 02 00 01', 'an INTEGER is not minimal', '0a 01 01'],
  ['03 00', 'a BIT STRING has no content', '03 01 00'],
  ['03 02 08 00', 'a BIT STRING has more unused bits than it has', '03 02 07 00'],
  ['03 01 01', 'a BIT STRING has more unused bits than it has', '03 01 00'],
  ['03 02 01 01', 'unused bits of a BIT STRING are not zero', '03 02 01 02'],
  ['05 01 00', 'a NULL has content', '05 00'],
  ['06 00', 'an OBJECT IDENTIFIER is cut off', '06 01 2a'],
  ['06 02 2a 86', 'an OBJECT IDENTIFIER is cut off', '06 03 2a 86 48'],
  ['06 03 2a 80 01', 'an arc of an OBJECT IDENTIFIER is padded', '06 03 2a 81 01'],
  [
    '31 06 02 01 02 02 01 01',
    'the elements of a SET are not in their order',
    '31 06 02 01 01 02 01 02',
  ],
])('%s: %s', ([wrong, problem, right]) => {
  expect(problemOf(wrong ?? '')).toBe(problem);
  expect(problemOf(right ?? '')).toBe('none');
});

test('a SET may be sorted by tag, too, and may repeat an element only as a SET OF', () => {
  expect(problemOf('31 05 a0 00 81 01 00')).toBe('none');
  expect(problemOf('31 06 02 01 01 02 01 01')).toBe('none');
});

describe('depth', () => {
  const nested = (levels: number): string =>
    levels === 1
      ? '0500'
      : `30${(2 * (levels - 1)).toString(16).padStart(2, '0')}${nested(levels - 1)}`;

  test('sixteen levels are read, seventeen are not', () => {
    expect(problemOf(nested(16))).toBe('none');
    expect(problemOf(nested(17))).toBe('elements are nested deeper than 16 levels');
  });

  test('what is read inside a string starts at the level it is given', () => {
    expect(() => readDer(bytes(nested(8)), 0, undefined, 9)).not.toThrow();
    expect(() => readDer(bytes(nested(9)), 0, undefined, 9)).toThrow(Malformed);
  });

  test('twenty thousand openings exhaust no stack', () => {
    expect(problemOf('3080'.repeat(20_000))).toBe('a length is indefinite');
    expect(problemOf('30 83 01 00 00'.repeat(10_000))).toBe(longer);
  });
});

test('elements know where they stand', () => {
  const element = readDer(bytes('30 07 0c 02 61 62 82 01 63'));
  expect(
    element.children.map(({ start, content, end, level }) => [start, content, end, level]),
  ).toEqual([
    [2, 4, 6, 2],
    [6, 8, 9, 2],
  ]);
});
