import { createPublicKey, verify } from 'node:crypto';
import type { SignatureVerdict, SignatureVerifier } from './signature.ts';
import { rawEcdsaSignature } from './x509/ecdsa-signature.ts';

const digests: { readonly [digest: string]: string } = {
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

/** Checks a proof of possession with OpenSSL, by way of `node:crypto`. */
export const verifySignature: SignatureVerifier = ({ signed, csr }): SignatureVerdict => {
  let key: ReturnType<typeof createPublicKey>;
  try {
    key = createPublicKey({ key: signed.spki, format: 'der', type: 'spki' });
  } catch {
    return 'unusableKey';
  }
  const algorithm = csr.signatureAlgorithm;
  const digest = 'digest' in algorithm ? digests[algorithm.digest] : null;
  if (digest === undefined) return 'invalid';
  try {
    if (csr.key.kind !== 'ec') {
      return verify(digest, signed.info, { key }, signed.signature) ? 'valid' : 'invalid';
    }
    const raw = rawEcdsaSignature(signed.signature, csr.key.curve);
    if (raw === undefined) return 'invalid';
    const holder = { key, dsaEncoding: 'ieee-p1363' } as const;
    return verify(digest, signed.info, holder, raw) ? 'valid' : 'invalid';
  } catch {
    // OpenSSL throws instead of answering where a value makes no sense for a key.
    return 'invalid';
  }
};
