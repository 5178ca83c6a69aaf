import { contentOf, type Element, universal } from './element.ts';
import { malformed } from './malformed.ts';

/**
 * Ends the reading if the content of a primitive universal element is not the one DER gives its
 * value. Characters of strings are left to whoever knows what a string is for.
 */
export function checkPrimitive(element: Element): void {
  const content = contentOf(element);
  switch (element.tag) {
    case universal.boolean:
      if (content.length !== 1 || (content[0] !== 0x00 && content[0] !== 0xff)) {
        malformed('a BOOLEAN is neither 00 nor FF');
      }
      return;
    case universal.integer:
    case universal.enumerated:
      checkInteger(content);
      return;
    case universal.bitString:
      checkBitString(content);
      return;
    case universal.null:
      if (content.length !== 0) malformed('a NULL has content');
      return;
    case universal.objectIdentifier:
    case universal.relativeOid:
      checkObjectIdentifier(content);
      return;
  }
}

/** X.690, 8.3.2: at least one octet, and the first nine bits are not all alike. */
function checkInteger(content: Uint8Array): void {
  const [first, second] = content;
  if (first === undefined) malformed('an INTEGER has no content');
  if (second === undefined) return;
  if ((first === 0x00 && second < 0x80) || (first === 0xff && second >= 0x80)) {
    malformed('an INTEGER is not minimal');
  }
}

/** X.690, 8.6.2 and 11.2.1: the count of unused bits, at most seven, and those bits are zero. */
function checkBitString(content: Uint8Array): void {
  const unused = content[0];
  if (unused === undefined) malformed('a BIT STRING has no content');
  if (unused > 7 || (unused > 0 && content.length === 1)) {
    malformed('a BIT STRING has more unused bits than it has');
  }
  if (((content.at(-1) ?? 0) & ((1 << unused) - 1)) !== 0 && content.length > 1) {
    malformed('unused bits of a BIT STRING are not zero');
  }
}

/** X.690, 8.19.2: whole arcs, each in as few octets as possible. */
function checkObjectIdentifier(content: Uint8Array): void {
  if (content.length === 0 || (content.at(-1) ?? 0) >= 0x80) {
    malformed('an OBJECT IDENTIFIER is cut off');
  }
  let arcStarts = true;
  for (const octet of content) {
    if (arcStarts && octet === 0x80) malformed('an arc of an OBJECT IDENTIFIER is padded');
    arcStarts = octet < 0x80;
  }
}
