import { createPublicKey, verify } from 'node:crypto';
import { encodeBase64 } from './base64.ts';
import type { SignatureVerdict, SignatureVerifier } from './signature.ts';
import { rawEcdsaSignature } from './x509/ecdsa-signature.ts';

const digests: { readonly [digest: string]: string } = {
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

/** Checks a proof of possession with OpenSSL, by way of `node:crypto`. */
export const verifySignature: SignatureVerifier = ({ signed, csr }): SignatureVerdict => {
  const algorithm = csr.signatureAlgorithm;
  const digest = 'digest' in algorithm ? digests[algorithm.digest] : null;
  // Node takes a key as PEM text half again as fast as the same key as an object with its DER.
  const key = `-----BEGIN PUBLIC KEY-----\n${encodeBase64(signed.spki)}\n-----END PUBLIC KEY-----\n`;
  const isCanonical =
    csr.key.kind !== 'ec' || rawEcdsaSignature(signed.signature, csr.key.curve) !== undefined;
  if (digest === undefined || !isCanonical) return verdictOnKey(key);
  try {
    return verify(digest, signed.info, key, signed.signature) ? 'valid' : 'invalid';
  } catch {
    return verdictOnKey(key);
  }
};

/** What it means that there is nothing to verify, or that OpenSSL threw: is it the key? */
function verdictOnKey(key: string): SignatureVerdict {
  try {
    createPublicKey(key);
    return 'invalid';
  } catch {
    return 'unusableKey';
  }
}
