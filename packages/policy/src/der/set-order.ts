import { type Element, encodingOf } from './element.ts';

/**
 * Whether the elements of a SET stand in their DER order: by encoding, as in a SET OF (X.690,
 * 11.6), or by tag, as in a SET (10.3). Which of the two a type unknown here is cannot be told from
 * its bytes. Equal elements may be repeated in a SET OF.
 */
export function isSortedSet(elements: readonly Element[]): boolean {
  return isSortedSetOf(elements) || isSortedByTag(elements);
}

/** Whether the elements of a SET OF stand in the order of their encodings (X.690, 11.6). */
export function isSortedSetOf(elements: readonly Element[]): boolean {
  for (let index = 1; index < elements.length; index++) {
    const before = elements[index - 1];
    const after = elements[index];
    if (before && after && compareBytes(encodingOf(before), encodingOf(after)) > 0) return false;
  }
  return true;
}

function isSortedByTag(elements: readonly Element[]): boolean {
  for (let index = 1; index < elements.length; index++) {
    const before = elements[index - 1];
    const after = elements[index];
    if (before === undefined || after === undefined) continue;
    const order = before.class - after.class || before.tag - after.tag;
    if (order >= 0) return false;
  }
  return true;
}

/** The shorter one counts as padded with zero octets, as X.690 has it. */
function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.max(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
