/**
 * How the length octets of an element are written.
 *
 * `minimal` is DER. `indefinite` is BER's form with end-of-contents octets. `padded` is the long
 * form with that many length octets, however short the content is. `octets` is taken as it is and
 * need not be the truth. (X.690 8.1.3, 10.1)
 */
export type LengthForm =
  | 'minimal'
  | 'indefinite'
  | { readonly padded: number }
  | { readonly octets: readonly number[] };

/** Content of an element: its bytes, or the elements that follow one another in it. */
export type Content = Uint8Array | readonly Uint8Array[];

const encoder = new TextEncoder();

/** Joins byte strings. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  let total = 0;
  for (const part of parts) total += part.length;
  const joined = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** UTF-8 bytes of a text. */
export function textBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

function bigEndian(value: number): number[] {
  const octets: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return octets;
}

function lengthOctets(length: number, form: LengthForm): readonly number[] {
  if (form === 'indefinite') return [0x80];
  if (form === 'minimal') {
    if (length < 0x80) return [length];
    const octets = bigEndian(length);
    return [0x80 | octets.length, ...octets];
  }
  if ('octets' in form) return form.octets;
  const octets = bigEndian(length);
  while (octets.length < form.padded) octets.unshift(0);
  return [0x80 | octets.length, ...octets];
}

/**
 * One element: identifier octets, length octets, content. Nothing is checked, so that every wrong
 * form can be written as easily as the right one.
 *
 * @param tag identifier octet, or several for a high tag number
 */
export function element(
  tag: number | readonly number[],
  content: Content,
  length: LengthForm = 'minimal',
): Uint8Array {
  const body = content instanceof Uint8Array ? content : concatBytes(content);
  const identifier = typeof tag === 'number' ? [tag] : tag;
  const head = Uint8Array.from([...identifier, ...lengthOctets(body.length, length)]);
  const end = length === 'indefinite' ? Uint8Array.of(0, 0) : new Uint8Array(0);
  return concatBytes([head, body, end]);
}

/** SEQUENCE or SEQUENCE OF. */
export function sequence(...elements: readonly Uint8Array[]): Uint8Array {
  return element(0x30, elements);
}

/** SET with its elements in the order given, which DER may not permit. */
export function setInGivenOrder(...elements: readonly Uint8Array[]): Uint8Array {
  return element(0x31, elements);
}

/** SET OF with its elements in the order that DER requires. (X.690 11.6) */
export function setOf(...elements: readonly Uint8Array[]): Uint8Array {
  return element(
    0x31,
    [...elements].sort((left, right) => Buffer.compare(left, right)),
  );
}

/** INTEGER in two's complement with as few octets as possible. */
export function integer(value: number | bigint): Uint8Array {
  let rest = BigInt(value);
  const octets: number[] = [];
  for (;;) {
    const octet = Number(BigInt.asUintN(8, rest));
    octets.unshift(octet);
    rest >>= 8n;
    const signIsShown = (octet & 0x80) === 0 ? rest === 0n : rest === -1n;
    if (signIsShown) return element(0x02, Uint8Array.from(octets));
  }
}

/** BOOLEAN; DER has 0xFF for true. */
export function boolean(value: boolean): Uint8Array {
  return element(0x01, Uint8Array.of(value ? 0xff : 0x00));
}

/** NULL. */
export function nullValue(): Uint8Array {
  return element(0x05, new Uint8Array(0));
}

/** OBJECT IDENTIFIER from its dotted text. */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const octets: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const groups = [arc % 128];
    for (let high = Math.floor(arc / 128); high > 0; high = Math.floor(high / 128)) {
      groups.unshift(0x80 | (high % 128));
    }
    octets.push(...groups);
  }
  return element(0x06, Uint8Array.from(octets));
}

/** OCTET STRING. */
export function octetString(content: Content): Uint8Array {
  return element(0x04, content);
}

/** BIT STRING; `unusedBits` is written as it is. */
export function bitString(content: Uint8Array, unusedBits = 0): Uint8Array {
  return element(0x03, [Uint8Array.of(unusedBits), content]);
}

/** Universal string types by the name that X.680 gives them, with their tag. */
export const stringTags = {
  utf8: 0x0c,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  universal: 0x1c,
  bmp: 0x1e,
} as const;

/** Name of a string type. */
export type StringType = keyof typeof stringTags;

function codeUnits(text: string, width: 2 | 4): Uint8Array {
  const octets: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    for (let shift = (width - 1) * 8; shift >= 0; shift -= 8) octets.push((point >>> shift) & 0xff);
  }
  return Uint8Array.from(octets);
}

/**
 * A character string. BMPString and UniversalString get two and four octets a character, all
 * others the UTF-8 bytes, whether or not their alphabet has the characters.
 */
export function characterString(type: StringType, text: string): Uint8Array {
  if (type === 'bmp') return element(stringTags.bmp, codeUnits(text, 2));
  if (type === 'universal') return element(stringTags.universal, codeUnits(text, 4));
  return element(stringTags[type], textBytes(text));
}

/** Context-specific tag `[number]`, primitive or constructed. */
export function contextTag(number: number, content: Content, constructed: boolean): Uint8Array {
  return element(0x80 | (constructed ? 0x20 : 0) | number, content);
}
