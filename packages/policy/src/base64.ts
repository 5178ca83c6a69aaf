const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const padding = 0x3d;
const noDigit = 0xff;

const digitOf = new Uint8Array(256).fill(noDigit);
for (let digit = 0; digit < alphabet.length; digit++) digitOf[alphabet.charCodeAt(digit)] = digit;

/** The two digits of every value of twelve bits. */
const pairs = Array.from(
  { length: 4096 },
  (_, value) => alphabet.charAt(value >> 6) + alphabet.charAt(value & 0x3f),
);

/**
 * Decodes canonical base64 (RFC 4648, section 4): whole groups of four, padding only at the end,
 * spare bits zero, nothing else in between. Anything else is undefined, so that one text stands
 * for one value only.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  const codes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return undefined;
    codes[index] = code;
  }
  return decodeBase64Codes(codes);
}

/** `decodeBase64` for text that is held as ASCII codes. */
export function decodeBase64Codes(codes: Uint8Array): Uint8Array | undefined {
  if (codes.length % 4 !== 0) return undefined;
  if (codes.length === 0) return new Uint8Array(0);
  const padded = paddingOf(codes);
  const bytes = new Uint8Array((codes.length / 4) * 3 - padded);
  const whole = codes.length - (padded === 0 ? 0 : 4);
  let written = 0;
  for (let index = 0; index < whole; index += 4) {
    const bits = groupOf(codes, index, 4);
    if (bits < 0) return undefined;
    bytes[written++] = bits >> 16;
    bytes[written++] = bits >> 8;
    bytes[written++] = bits;
  }
  if (padded === 0) return bytes;
  const bits = groupOf(codes, whole, 4 - padded);
  // The digits before the padding hold more bits than octets; the spare ones must be zero.
  const spare = padded === 1 ? 0xff : 0xffff;
  if (bits < 0 || (bits & spare) !== 0) return undefined;
  bytes[written++] = bits >> 16;
  if (padded === 1) bytes[written] = bits >> 8;
  return bytes;
}

/** The 24 bits of four digits, of which the last ones may be padding; -1 if a code is no digit. */
function groupOf(codes: Uint8Array, start: number, digits: number): number {
  let bits = 0;
  for (let index = 0; index < 4; index++) {
    const digit = index < digits ? (digitOf[codes[start + index] ?? 0] ?? noDigit) : 0;
    if (digit === noDigit) return -1;
    bits = (bits << 6) | digit;
  }
  return bits;
}

function paddingOf(codes: Uint8Array): number {
  if (codes.at(-1) !== padding) return 0;
  return codes.at(-2) === padding ? 2 : 1;
}

/** The canonical base64 of some bytes, in one line. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  const whole = bytes.length - (bytes.length % 3);
  for (let index = 0; index < whole; index += 3) {
    const high = ((bytes[index] ?? 0) << 4) | ((bytes[index + 1] ?? 0) >> 4);
    const low = (((bytes[index + 1] ?? 0) & 0x0f) << 8) | (bytes[index + 2] ?? 0);
    text += (pairs[high] ?? '') + (pairs[low] ?? '');
  }
  const [first, second] = bytes.subarray(whole);
  if (first === undefined) return text;
  if (second === undefined) return `${text}${pairs[first << 4]}==`;
  return `${text}${pairs[(first << 4) | (second >> 4)]}${alphabet.charAt((second & 0x0f) << 2)}=`;
}
