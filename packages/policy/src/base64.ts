const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const padding = 0x3d;
const noDigit = 0xff;

const digitOf = new Uint8Array(256).fill(noDigit);
for (let digit = 0; digit < alphabet.length; digit++) digitOf[alphabet.charCodeAt(digit)] = digit;

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
  const digits = codes.length - padded;
  let bits = 0;
  let held = 0;
  let written = 0;
  for (let index = 0; index < digits; index++) {
    const digit = digitOf[codes[index] ?? 0] ?? noDigit;
    if (digit === noDigit) return undefined;
    bits = ((bits << 6) | digit) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[written++] = (bits >> held) & 0xff;
    }
  }
  const spare = bits & ((1 << held) - 1);
  return spare === 0 ? bytes : undefined;
}

function paddingOf(codes: Uint8Array): number {
  if (codes.at(-1) !== padding) return 0;
  return codes.at(-2) === padding ? 2 : 1;
}

/** The canonical base64 of some bytes, in one line. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const bits =
      ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    for (let shift = 18; shift >= 0; shift -= 6) text += alphabet.charAt((bits >> shift) & 0x3f);
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  return missing === 0 ? text : text.slice(0, -missing) + '='.repeat(missing);
}
