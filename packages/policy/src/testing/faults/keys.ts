import { element } from '../der-writer.ts';
import { poolKey } from '../key-pool.ts';
import { withChanges } from '../request-case.ts';
import type { RequestChanges } from '../signing-request.ts';
import type { Fault } from './fault.ts';

const badSignature = { kind: 'deny', reasons: ['SignatureInvalid'] } as const;
const weak = { kind: 'deny', reasons: ['KeyNotPermitted'] } as const;
const unsupported = { kind: 'pending', reasons: ['RequestUnsupported'] } as const;

/** Faults of the key, the algorithm and the signature. */
export const faultsOfKeys: readonly Fault[] = [
  {
    name: 'a bit of the signature turned',
    expect: badSignature,
    spoil: (parts) => withChanges(parts, { signature: 'broken' }),
  },
  {
    name: 'a signature by another key',
    expect: badSignature,
    spoil: (parts, draw) => {
      const name = draw.one(['P-256', 'Ed25519'] as const);
      return withChanges(parts, { key: poolKey(name, 1), spki: poolKey(name, 0).spki });
    },
  },
  {
    name: 'a signature that nobody made',
    expect: badSignature,
    spoil: (parts) =>
      withChanges(parts, { key: 'P-256', signature: Uint8Array.from([0x30, 6, 2, 1, 1, 2, 1, 1]) }),
  },
  {
    name: 'a signature value that is no ECDSA-Sig-Value',
    expect: badSignature,
    spoil: (parts) =>
      withChanges(parts, { key: 'P-256', signature: element(0x04, new Uint8Array(64)) }),
  },
  {
    name: 'an algorithm that is not one of the key',
    expect: badSignature,
    spoil: (parts) =>
      withChanges(parts, {
        key: 'P-256',
        signatureAlgorithm: 'ed25519',
        signature: new Uint8Array(64),
      }),
  },
  {
    name: 'a weak key',
    expect: weak,
    spoil: (parts, draw) =>
      withChanges(parts, { key: draw.one(['RSA-1024', 'P-224', 'secp256k1'] as const) }),
  },
  {
    name: 'a DSA key',
    expect: weak,
    spoil: (parts) => withChanges(parts, { key: 'DSA-2048' }),
  },
  {
    name: 'SHA-1 or MD5',
    expect: weak,
    spoil: (parts, draw) =>
      withChanges(
        parts,
        draw.one<RequestChanges>([
          { key: 'P-256', signatureAlgorithm: 'ecdsa-sha1' },
          { key: 'RSA-2048', signatureAlgorithm: 'rsa-sha1' },
          { key: 'RSA-2048', signatureAlgorithm: 'rsa-md5' },
        ]),
      ),
  },
  {
    name: 'a key of a kind that is not implemented',
    expect: unsupported,
    spoil: (parts, draw) =>
      withChanges(parts, { key: draw.one(['Ed448', 'brainpoolP256r1'] as const) }),
  },
  {
    name: 'an algorithm that is not implemented',
    expect: unsupported,
    spoil: (parts, draw) =>
      withChanges(
        parts,
        draw.one<RequestChanges>([
          { key: 'P-256', signatureAlgorithm: 'ecdsa-sha224' },
          { key: 'RSA-2048', signatureAlgorithm: 'rsa-pss-sha256' },
          { key: 'RSA-2048', signatureAlgorithm: 'rsa-sha224' },
        ]),
      ),
  },
];
