/**
 * Writes DER (ITU-T X.690) for the certificates that the testbed issues. It only writes; what it writes is
 * read by Go's parser in every test.
 */
export function tlv(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), derLength(content.length), content]);
}

function derLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return Buffer.from([0x80 | digits.length, ...digits]);
}

/** SEQUENCE of the given encodings. */
export const sequence = (...items: readonly Uint8Array[]): Buffer => tlv(0x30, ...items);

/** SET OF; sorts the encodings as DER demands (X.690 section 11.6). */
export const setOf = (...items: readonly Uint8Array[]): Buffer =>
  tlv(0x31, ...[...items].sort((a, b) => Buffer.compare(a, b)));

/** Non-negative INTEGER from big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const minimal = bytes.subarray(start);
  const first = minimal[0] ?? 0;
  return tlv(0x02, first >= 0x80 || minimal.length === 0 ? Buffer.from([0]) : Buffer.of(), minimal);
}

/** OBJECT IDENTIFIER from its dotted form. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const groups = [arc & 0x7f];
    for (let high = arc >>> 7; high > 0; high >>>= 7) groups.unshift((high & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tlv(0x06, Buffer.from(bytes));
}

/** BIT STRING without unused bits. */
export const bitString = (bytes: Uint8Array): Buffer => tlv(0x03, Buffer.from([0]), bytes);

/** OCTET STRING. */
export const octetString = (bytes: Uint8Array): Buffer => tlv(0x04, bytes);

/** BOOLEAN TRUE. */
export const derTrue: Buffer = tlv(0x01, Buffer.from([0xff]));

/** UTF8String; bytes are taken as they are, valid UTF-8 or not. */
export const utf8String = (value: string | Uint8Array): Buffer =>
  tlv(0x0c, typeof value === 'string' ? Buffer.from(value, 'utf8') : value);

/** UTCTime or, from 2050 on, GeneralizedTime (RFC 5280 section 4.1.2.5), in whole seconds. */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return at.getUTCFullYear() < 2050
    ? tlv(0x17, Buffer.from(digits.slice(2)))
    : tlv(0x18, Buffer.from(digits));
}
