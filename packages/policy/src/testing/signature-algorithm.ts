import { constants, sign } from 'node:crypto';
import { contextTag, integer, nullValue, objectIdentifier, sequence } from './der-writer.ts';
import type { KeyName, PoolKey } from './key-pool.ts';

/** Signature algorithms that the builder can write, and sign with where OpenSSL still does. */
export type SignatureAlgorithm =
  | 'ecdsa-sha1'
  | 'ecdsa-sha224'
  | 'ecdsa-sha256'
  | 'ecdsa-sha384'
  | 'ecdsa-sha512'
  | 'rsa-md5'
  | 'rsa-sha1'
  | 'rsa-sha224'
  | 'rsa-sha256'
  | 'rsa-sha384'
  | 'rsa-sha512'
  | 'rsa-pss-sha256'
  | 'ed25519'
  | 'ed448'
  | 'dsa-sha256';

// RFC 5758 3, RFC 4055 5, RFC 8017 A.2, RFC 8410 3.
const algorithms: Record<
  SignatureAlgorithm,
  { readonly oid: string; readonly digest: string | null }
> = {
  'ecdsa-sha1': { oid: '1.2.840.10045.4.1', digest: 'sha1' },
  'ecdsa-sha224': { oid: '1.2.840.10045.4.3.1', digest: 'sha224' },
  'ecdsa-sha256': { oid: '1.2.840.10045.4.3.2', digest: 'sha256' },
  'ecdsa-sha384': { oid: '1.2.840.10045.4.3.3', digest: 'sha384' },
  'ecdsa-sha512': { oid: '1.2.840.10045.4.3.4', digest: 'sha512' },
  'rsa-md5': { oid: '1.2.840.113549.1.1.4', digest: 'md5' },
  'rsa-sha1': { oid: '1.2.840.113549.1.1.5', digest: 'sha1' },
  'rsa-sha224': { oid: '1.2.840.113549.1.1.14', digest: 'sha224' },
  'rsa-sha256': { oid: '1.2.840.113549.1.1.11', digest: 'sha256' },
  'rsa-sha384': { oid: '1.2.840.113549.1.1.12', digest: 'sha384' },
  'rsa-sha512': { oid: '1.2.840.113549.1.1.13', digest: 'sha512' },
  'rsa-pss-sha256': { oid: '1.2.840.113549.1.1.10', digest: 'sha256' },
  ed25519: { oid: '1.3.101.112', digest: null },
  ed448: { oid: '1.3.101.113', digest: null },
  'dsa-sha256': { oid: '2.16.840.1.101.3.4.3.2', digest: 'sha256' },
};

function pssParameters(): Uint8Array {
  const sha256 = sequence(objectIdentifier('2.16.840.1.101.3.4.2.1'), nullValue());
  const mgf1 = sequence(objectIdentifier('1.2.840.113549.1.1.8'), sha256);
  return sequence(
    contextTag(0, sha256, true),
    contextTag(1, mgf1, true),
    contextTag(2, integer(32), true),
  );
}

/** AlgorithmIdentifier of a signature algorithm, with the parameters that its RFC asks for. */
export function algorithmIdentifier(algorithm: SignatureAlgorithm): Uint8Array {
  const oid = objectIdentifier(algorithms[algorithm].oid);
  if (algorithm === 'rsa-pss-sha256') return sequence(oid, pssParameters());
  return algorithm.startsWith('rsa-') ? sequence(oid, nullValue()) : sequence(oid);
}

/** The algorithm that a kubelet, or whoever has such a key, would sign with. */
export function usualAlgorithm(key: KeyName): SignatureAlgorithm {
  if (key === 'Ed25519') return 'ed25519';
  if (key === 'Ed448') return 'ed448';
  if (key === 'DSA-2048') return 'dsa-sha256';
  if (key === 'P-384') return 'ecdsa-sha384';
  if (key === 'P-521') return 'ecdsa-sha512';
  return key.startsWith('RSA-') ? 'rsa-sha256' : 'ecdsa-sha256';
}

/** Signs bytes; the value is what stands in the BIT STRING of a request. */
export function signBytes(
  bytes: Uint8Array,
  key: PoolKey,
  algorithm: SignatureAlgorithm,
): Uint8Array {
  const { digest } = algorithms[algorithm];
  if (algorithm === 'rsa-pss-sha256') {
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return new Uint8Array(sign(digest, bytes, { key: key.privateKey, padding, saltLength: 32 }));
  }
  return new Uint8Array(sign(digest, bytes, key.privateKey));
}
