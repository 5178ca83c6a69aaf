import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult } from 'node:crypto';

/** Keys that the pool can make, good ones, weak ones and ones that are not implemented. */
export type KeyName =
  | 'P-256'
  | 'P-384'
  | 'P-521'
  | 'RSA-1024'
  | 'RSA-2048'
  | 'RSA-3072'
  | 'RSA-4096'
  | 'Ed25519'
  | 'Ed448'
  | 'P-224'
  | 'secp256k1'
  | 'brainpoolP256r1'
  | 'DSA-2048';

/** A key pair, with its SubjectPublicKeyInfo as DER. (RFC 5280 4.1.2.7) */
export interface PoolKey {
  readonly name: KeyName;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly spki: Uint8Array;
}

const curves: Partial<Record<KeyName, string>> = {
  'P-256': 'prime256v1',
  'P-384': 'secp384r1',
  'P-521': 'secp521r1',
  'P-224': 'secp224r1',
  secp256k1: 'secp256k1',
  brainpoolP256r1: 'brainpoolP256r1',
};

function generate(name: KeyName): KeyPairKeyObjectResult {
  const namedCurve = curves[name];
  if (namedCurve !== undefined) return generateKeyPairSync('ec', { namedCurve });
  if (name === 'Ed25519') return generateKeyPairSync('ed25519');
  if (name === 'Ed448') return generateKeyPairSync('ed448');
  if (name === 'DSA-2048') {
    return generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 });
  }
  return generateKeyPairSync('rsa', { modulusLength: Number(name.slice('RSA-'.length)) });
}

const pool = new Map<string, PoolKey>();

/**
 * The key of that name and number. Keys are made on first use and kept for the life of the
 * process, because making them costs far more than everything else in a test.
 *
 * @param number tells keys of one name apart
 */
export function poolKey(name: KeyName, number = 0): PoolKey {
  const label = `${name}#${number}`;
  const known = pool.get(label);
  if (known !== undefined) return known;
  const pair = generate(name);
  const spki = new Uint8Array(pair.publicKey.export({ format: 'der', type: 'spki' }));
  const key = { name, privateKey: pair.privateKey, publicKey: pair.publicKey, spki };
  pool.set(label, key);
  return key;
}
