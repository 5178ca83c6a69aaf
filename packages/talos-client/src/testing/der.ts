/** One DER element (X.690): identifier octet, minimal length, contents. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 128) {
    return Buffer.concat([Buffer.from([tag, body.length]), body]);
  }
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

/** SEQUENCE. */
export const sequence = (...items: readonly Uint8Array[]) => der(0x30, ...items);

/** SET with one element or several that are in order already. */
export const set = (...items: readonly Uint8Array[]) => der(0x31, ...items);

/** OCTET STRING. */
export const octets = (contents: Uint8Array) => der(0x04, contents);

/** UTF8String. */
export const utf8 = (text: string) => der(0x0c, Buffer.from(text, 'utf8'));

/** BOOLEAN TRUE. */
export const isTrue = der(0x01, Buffer.from([0xff]));

/** BIT STRING; `unused` bits at the end. */
export const bits = (contents: Uint8Array, unused = 0) =>
  der(0x03, Buffer.from([unused]), contents);

/** INTEGER of big-endian magnitude bytes, taken as positive. */
export function positiveInteger(magnitude: Uint8Array): Buffer {
  const first = magnitude.findIndex((byte) => byte !== 0);
  const trimmed = first === -1 ? Buffer.from([0]) : Buffer.from(magnitude.subarray(first));
  const sign = (trimmed[0] ?? 0) >= 0x80 ? [Buffer.from([0])] : [];
  return der(0x02, ...sign, trimmed);
}

/** OBJECT IDENTIFIER from dotted decimal. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const octetsOf = (arc: number): number[] => {
    const low = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) {
      low.unshift(0x80 | (left & 0x7f));
    }
    return low;
  };
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(octetsOf)]));
}

/** UTCTime before 2050, GeneralizedTime from then on (RFC 5280 section 4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  const isUtc = at.getUTCFullYear() < 2050;
  return der(isUtc ? 0x17 : 0x18, Buffer.from(isUtc ? digits.slice(2) : digits, 'ascii'));
}
