import { describe, expect, test } from 'vitest';
import {
  bitString,
  buildRequest,
  buildRequestDer,
  dnsEntry,
  integer,
  nullValue,
  objectIdentifier,
  pemText,
  poolKey,
  sequence,
} from '../testing/index.ts';
import { parseCsr } from './parse-csr.ts';

const der = buildRequestDer();
const parse = (request: Uint8Array) => parseCsr(Buffer.from(pemText(request)));

function problemOf(reading: ReturnType<typeof parseCsr>): string {
  return reading.kind === 'malformed' ? reading.problem : 'none';
}

test('a request becomes plain data', () => {
  const reading = parse(der);
  expect(reading.kind === 'parsed' && reading.csr).toEqual({
    subject: [
      [{ type: '2.5.4.10', valueType: 'PrintableString', value: 'system:nodes' }],
      [{ type: '2.5.4.3', valueType: 'PrintableString', value: 'system:node:worker-1' }],
    ],
    key: { kind: 'ec', curve: 'P-256' },
    signatureAlgorithm: { kind: 'ecdsa', digest: 'SHA-256' },
    attributes: [{ type: '1.2.840.113549.1.9.14', values: 1 }],
    extensions: [{ type: '2.5.29.17', critical: false }],
    san: [
      { kind: 'dns', name: 'worker-1' },
      { kind: 'ip', octets: [10, 5, 0, 11] },
      { kind: 'ip', octets: [0xfd, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11] },
    ],
  });
});

test('base64 of the PEM text and the text itself are the same request', () => {
  const request = buildRequest().spec.request ?? '';
  const reading = parseCsr(request);
  expect(reading.kind).toBe('parsed');
  expect(parseCsr(Buffer.from(request, 'base64'))).toEqual(reading);
});

test('what is signed, the key and the signature are cut out of the bytes as they are', () => {
  const reading = parse(der);
  if (reading.kind !== 'parsed') throw new Error(reading.problem);
  expect(reading.signed.spki).toEqual(poolKey('P-256').spki);
  expect(Buffer.from(der).indexOf(reading.signed.info)).toBe(4);
  expect(der.subarray(-reading.signed.signature.length)).toEqual(reading.signed.signature);
});

describe('bounds', () => {
  const padded = (length: number) => Buffer.from(pemText(der).padEnd(length, ' '));

  test('65536 octets of PEM text are read, one more is not', () => {
    expect(problemOf(parseCsr(padded(65_536)))).toBe('none');
    expect(problemOf(parseCsr(padded(65_536).toString('base64')))).toBe('none');
    expect(problemOf(parseCsr(padded(65_537)))).toContain('longer than 65536');
    expect(problemOf(parseCsr(padded(65_537).toString('base64')))).toContain('longer than 65536');
  });

  test('256 names are read, one more is not', () => {
    const names = (count: number) =>
      parse(buildRequestDer({ san: Array.from({ length: count }, () => dnsEntry('a')) }));
    expect(problemOf(names(256))).toBe('none');
    expect(problemOf(names(257))).toContain('its SAN has more than 256 entries');
  });
});

describe('keys', () => {
  const ecKey = (point: Uint8Array) =>
    sequence(
      sequence(objectIdentifier('1.2.840.10045.2.1'), objectIdentifier('1.2.840.10045.3.1.7')),
      bitString(point),
    );
  const rsaKey = (...parts: readonly Uint8Array[]) =>
    sequence(
      sequence(objectIdentifier('1.2.840.113549.1.1.1'), nullValue()),
      bitString(sequence(...parts)),
    );
  const keyOf = (spki: Uint8Array) =>
    parse(buildRequestDer({ spki, signature: new Uint8Array(8) }));
  const point = poolKey('P-256').spki.slice(-65);

  test('a point must lie on its curve', () => {
    expect(problemOf(keyOf(ecKey(point)))).toBe('none');
    for (const index of [1, 32, 33, 64]) {
      const off = point.slice();
      off[index] = (off[index] ?? 0) ^ 1;
      expect(problemOf(keyOf(ecKey(off)))).toContain('is not a point on P-256');
    }
  });

  test('a coordinate may not be written beyond the field', () => {
    // y = p + small is the same residue, in a form that no importer takes.
    const beyond = Uint8Array.of(4, ...new Uint8Array(32).fill(0xff), ...point.slice(33));
    expect(problemOf(keyOf(ecKey(beyond)))).toContain('is not a point on P-256');
  });

  test.for([
    ['infinity', Uint8Array.of(0)],
    ['a hybrid form', Uint8Array.of(6, ...point.slice(1))],
    ['one octet less', point.slice(0, 64)],
    ['nothing', new Uint8Array(0)],
  ] as const)('%s is no point', ([, octets]) => {
    expect(problemOf(keyOf(ecKey(octets)))).toContain('is not a point on P-256');
  });

  test.for([
    [2n ** 2047n + 1n, 65537n, 2048],
    [2n ** 2047n - 1n, 3n, 2047],
    [1n, 1n, 1],
    [0n, 0n, 0],
  ] as const)('an RSA modulus of %d has its bits counted', ([modulus, exponent, modulusBits]) => {
    const reading = keyOf(rsaKey(integer(modulus), integer(exponent)));
    expect(reading.kind === 'parsed' && reading.csr.key).toEqual({
      kind: 'rsa',
      modulusBits,
      exponent,
    });
  });

  test('an RSA key has two positive parts, and an exponent of any length costs little', () => {
    expect(problemOf(keyOf(rsaKey(integer(-5), integer(3))))).toContain('negative part');
    expect(problemOf(keyOf(rsaKey(integer(5), integer(-3))))).toContain('negative part');
    expect(problemOf(keyOf(rsaKey(integer(5))))).toContain('a modulus and an exponent');
    const huge = keyOf(rsaKey(integer(5), integer(2n ** 20_000n + 1n)));
    expect(huge.kind === 'parsed' && huge.csr.key).toMatchObject({ exponent: 2n ** 64n + 1n });
  });
});

describe('every change of a byte', () => {
  test('leaves a request or a sentence, and is never unnoticed', () => {
    const original = JSON.stringify(summary(parse(der)));
    let malformed = 0;
    for (let index = 0; index < der.length; index++) {
      for (const mask of [0x01, 0x20, 0x80]) {
        const changed = der.slice();
        changed[index] = (changed[index] ?? 0) ^ mask;
        const reading = parse(changed);
        if (reading.kind === 'malformed') malformed++;
        expect(JSON.stringify(summary(reading)), `octet ${index} ^ ${mask}`).not.toBe(original);
      }
    }
    expect(malformed).toBeGreaterThan(der.length);
  });

  test('every cut leaves a sentence', () => {
    for (let length = 0; length < der.length; length++) {
      expect(problemOf(parse(der.subarray(0, length)))).not.toBe('none');
    }
  });

  /** Everything that a reading says, the signature included. */
  function summary(reading: ReturnType<typeof parseCsr>): unknown {
    if (reading.kind === 'malformed') return reading;
    const { csr, signed } = reading;
    return { ...csr, spki: [...signed.spki], signature: [...signed.signature] };
  }
});
