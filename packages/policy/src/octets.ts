/**
 * A string of octets: one character per octet, each in the range U+0000 to U+00FF. Values out of a
 * request are kept like this because a plain string can be compared, frozen, written by hand in a
 * test and used as a key, none of which holds for a typed array.
 */
export type Octets = string;

/** The octets of `bytes` from `start` to `end` (exclusive). */
export function octetsOf(bytes: Uint8Array, start = 0, end = bytes.length): Octets {
  let octets = '';
  for (let index = start; index < end; index++) octets += String.fromCharCode(bytes[index] ?? 0);
  return octets;
}

const hexPairs = Array.from({ length: 256 }, (_, octet) => octet.toString(16).padStart(2, '0'));

/** The octets as lower-case hexadecimal digits, two for each. */
export function hexOf(octets: Octets): string {
  let hex = '';
  for (let index = 0; index < octets.length; index++) {
    hex += hexPairs[octets.charCodeAt(index) & 0xff];
  }
  return hex;
}

/** The same for bytes from `start` to `end` (exclusive). */
export function hexOfBytes(bytes: Uint8Array, start = 0, end = bytes.length): string {
  let hex = '';
  for (let index = start; index < end; index++) hex += hexPairs[bytes[index] ?? 0];
  return hex;
}

/**
 * The UTF-8 form of a text (RFC 3629). A lone surrogate, which has no UTF-8 form, becomes three
 * octets that no well-formed UTF-8 contains, so that the result equals nothing that was decoded.
 */
export function utf8Octets(text: string): Octets {
  if (isAscii(text)) return text;
  let octets = '';
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) octets += character;
    else if (point < 0x800) octets += String.fromCharCode(0xc0 | (point >> 6), tail(point));
    else if (point < 0x10000) {
      octets += String.fromCharCode(0xe0 | (point >> 12), tail(point >> 6), tail(point));
    } else {
      octets += String.fromCharCode(
        0xf0 | (point >> 18),
        tail(point >> 12),
        tail(point >> 6),
        tail(point),
      );
    }
  }
  return octets;
}

/** Whether a text is its own UTF-8, as nearly every name is. */
function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) return false;
  }
  return true;
}

const tail = (bits: number): number => 0x80 | (bits & 0x3f);

/**
 * The text that well-formed UTF-8 stands for, or undefined: overlong forms, surrogates, values
 * above U+10FFFF and cut-off sequences are not UTF-8 (RFC 3629, section 4).
 */
export function textOfUtf8(octets: Octets): string | undefined {
  if (isAscii(octets)) return octets;
  let text = '';
  let index = 0;
  while (index < octets.length) {
    const lead = octets.charCodeAt(index);
    const length = sequenceLength(lead);
    if (length === 0 || index + length > octets.length) return undefined;
    let point = length === 1 ? lead : lead & (0x7f >> length);
    for (let offset = 1; offset < length; offset++) {
      const next = octets.charCodeAt(index + offset);
      if ((next & 0xc0) !== 0x80) return undefined;
      point = (point << 6) | (next & 0x3f);
    }
    if (!isShortestForm(point, length)) return undefined;
    text += String.fromCodePoint(point);
    index += length;
  }
  return text;
}

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

function isShortestForm(point: number, length: number): boolean {
  if (length === 3) return point >= 0x800 && (point < 0xd800 || point > 0xdfff);
  if (length === 4) return point >= 0x10000 && point <= 0x10ffff;
  return true;
}
