/** Fractional parts of the cube and square roots of the first primes (FIPS 180-4, 4.2.2 and 5.3.3). */
const primes = firstPrimes(64);
const roundConstants = primes.map((prime) => fractionOf(Math.cbrt(prime)));
const initialState = primes.slice(0, 8).map((prime) => fractionOf(Math.sqrt(prime)));

/**
 * The SHA-256 digest of some bytes as lower-case hex (FIPS 180-4, 6.2). Only names certificates; in
 * plain code, because the same entry must work without Node and without waiting.
 */
export function sha256Hex(bytes: Uint8Array): string {
  const message = padded(bytes);
  let state: readonly number[] = initialState;
  for (let offset = 0; offset < message.byteLength; offset += 64) {
    state = compress(state, scheduleOf(message, offset));
  }
  return state.map((word) => word.toString(16).padStart(8, '0')).join('');
}

/** One bit, zeros, and the length in bits, up to a multiple of 64 octets (5.1.1). */
function padded(bytes: Uint8Array): DataView {
  const length = Math.ceil((bytes.length + 9) / 64) * 64;
  const message = new Uint8Array(length);
  message.set(bytes);
  message[bytes.length] = 0x80;
  const view = new DataView(message.buffer);
  view.setBigUint64(length - 8, BigInt(bytes.length) * 8n);
  return view;
}

function scheduleOf(message: DataView, offset: number): Uint32Array {
  const words = new Uint32Array(64);
  const word = (index: number): number => words[index] ?? 0;
  for (let index = 0; index < 16; index++) words[index] = message.getUint32(offset + index * 4);
  for (let index = 16; index < 64; index++) {
    const early = word(index - 15);
    const late = word(index - 2);
    const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[index] = word(index - 16) + small0 + word(index - 7) + small1;
  }
  return words;
}

function compress(state: readonly number[], words: Uint32Array): readonly number[] {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let round = 0; round < 64; round++) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + big1 + choice + (roundConstants[round] ?? 0) + (words[round] ?? 0)) | 0;
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e] = [g, f, e, (d + first) | 0];
    [d, c, b, a] = [c, b, a, (first + big0 + majority) | 0];
  }
  return [a, b, c, d, e, f, g, h].map((word, index) => (word + (state[index] ?? 0)) >>> 0);
}

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

function fractionOf(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}

function firstPrimes(count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
}
