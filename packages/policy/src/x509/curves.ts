import { hexOfBytes } from '../octets.ts';

/** A curve y² = x³ - 3x + b over the integers modulo p (FIPS 186-4, appendix D.1.2). */
interface Curve {
  /** Octets of a coordinate. */
  readonly size: number;
  readonly p: bigint;
  readonly b: bigint;
}

const curves: ReadonlyMap<string, Curve> = new Map([
  [
    'P-256',
    {
      size: 32,
      p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    },
  ],
  [
    'P-384',
    {
      size: 48,
      p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    },
  ],
  [
    'P-521',
    {
      size: 66,
      p: 2n ** 521n - 1n,
      b: 0x51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
    },
  ],
]);

/** Octets of one coordinate of a permitted curve; undefined for any other curve. */
export function coordinateSize(curve: string): number | undefined {
  return curves.get(curve)?.size;
}

/**
 * Whether an uncompressed point (SEC 1, section 2.3.3: 04, x, y) lies on a permitted curve. Checked
 * here and not only by whoever imports the key, because a request with a point off the curve is not
 * a request that the signer can read.
 */
export function isPointOnCurve(curve: string, point: Uint8Array): boolean {
  const parameters = curves.get(curve);
  if (parameters === undefined) return false;
  const { size, p, b } = parameters;
  if (point.length !== 1 + 2 * size || point[0] !== 0x04) return false;
  const x = integerOf(point, 1, 1 + size);
  const y = integerOf(point, 1 + size, 1 + 2 * size);
  return x < p && y < p && (y * y - (x * x - 3n) * x - b) % p === 0n;
}

const integerOf = (bytes: Uint8Array, start: number, end: number): bigint =>
  BigInt(`0x${hexOfBytes(bytes, start, end)}`);
