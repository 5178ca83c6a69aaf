import { checkPrimitive } from './canonical-content.ts';
import { type Element, type TagClass, tagClass, universal } from './element.ts';
import { malformed } from './malformed.ts';
import { isSortedSet } from './set-order.ts';

/** Deepest level that is read; a stock request has ten. */
const deepestLevel = 16;

/**
 * Reads one element that fills `bytes` from `start` to `end`, and everything inside it. Canonical
 * DER only (X.690, clause 10 and 11): minimal tags and definite minimal lengths, primitive strings,
 * canonical contents, sorted sets, nothing left over at any level.
 *
 * `level` is the level of the outermost element; what an OCTET STRING or a BIT STRING holds is read
 * one level below it, so that nesting cannot be hidden in strings.
 */
export function readDer(
  bytes: Uint8Array,
  start = 0,
  end: number = bytes.length,
  level = 1,
): Element {
  const element = readElement(bytes, start, end, level);
  if (element.end !== end) malformed(`${end - element.end} bytes follow an element of DER`);
  return element;
}

function readElement(bytes: Uint8Array, start: number, end: number, level: number): Element {
  if (level > deepestLevel) malformed(`elements are nested deeper than ${deepestLevel} levels`);
  const identifier = octetAt(bytes, start, end);
  const kind = (identifier >> 6) as TagClass;
  const constructed = (identifier & 0x20) !== 0;
  let at = start + 1;
  let tag = identifier & 0x1f;
  if (tag === 0x1f) {
    [tag, at] = readHighTag(bytes, at, end);
  }
  const [length, content] = readLength(bytes, at, end);
  const contentEnd = content + length;
  if (contentEnd > end) malformed('an element is longer than what holds it');
  if (kind === tagClass.universal) checkForm(tag, constructed);
  const children = constructed ? readChildren(bytes, content, contentEnd, level + 1) : noChildren;
  const element: Element = {
    bytes,
    class: kind,
    constructed,
    tag,
    start,
    content,
    end: contentEnd,
    level,
    children,
  };
  if (kind === tagClass.universal) {
    if (!constructed) checkPrimitive(element);
    else if (tag === universal.set && !isSortedSet(children)) {
      malformed('the elements of a SET are not in their order');
    }
  }
  return element;
}

const noChildren: readonly Element[] = [];

function readChildren(bytes: Uint8Array, start: number, end: number, level: number): Element[] {
  const children: Element[] = [];
  let at = start;
  while (at < end) {
    const child = readElement(bytes, at, end, level);
    children.push(child);
    at = child.end;
  }
  return children;
}

function octetAt(bytes: Uint8Array, at: number, end: number): number {
  const octet = at < end ? bytes[at] : undefined;
  return octet ?? malformed('an element is cut off');
}

/** Tag numbers from 31 on: base 128, most significant group first, in as few octets as possible. */
function readHighTag(bytes: Uint8Array, from: number, end: number): [tag: number, at: number] {
  let at = from;
  let octet = octetAt(bytes, at++, end);
  if (octet === 0x80) malformed('a tag number is padded');
  let tag = octet & 0x7f;
  while (octet >= 0x80) {
    octet = octetAt(bytes, at++, end);
    // Multiplied, not shifted: a long number loses digits, but never becomes a small one.
    tag = tag * 128 + (octet & 0x7f);
  }
  if (tag < 0x1f) malformed('a tag number below 31 is written in the long form');
  return [tag, at];
}

function readLength(bytes: Uint8Array, from: number, end: number): [length: number, at: number] {
  const first = octetAt(bytes, from, end);
  if (first < 0x80) return [first, from + 1];
  if (first === 0x80) malformed('a length is indefinite');
  const octets = first & 0x7f;
  // Input is bounded far below four octets of length, so that a longer one cannot fit.
  if (octets > 4) malformed('an element is longer than what holds it');
  let length = 0;
  for (let index = 1; index <= octets; index++) {
    length = length * 256 + octetAt(bytes, from + index, end);
  }
  if (length < 0x80 || length < 256 ** (octets - 1)) malformed('a length is not minimal');
  return [length, from + 1 + octets];
}

const constructedTypes: ReadonlySet<number> = new Set([
  universal.sequence,
  universal.set,
  universal.external,
  universal.embeddedPdv,
  universal.characterString,
]);

function checkForm(tag: number, constructed: boolean): void {
  if (tag === 0 || tag === 15) malformed('a reserved universal tag is used');
  if (constructed !== constructedTypes.has(tag)) {
    malformed(
      constructed
        ? 'a primitive type is written in constructed form'
        : 'a constructed type is written in primitive form',
    );
  }
}
