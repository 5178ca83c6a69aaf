import type { PublicKey, SignatureAlgorithm } from './parsed-csr.ts';
import type { SignatureQuestion, SignatureVerdict } from './signature.ts';
import { rawEcdsaSignature } from './x509/ecdsa-signature.ts';

/** Parameters of WebCrypto for the three kinds of keys that are permitted. */
interface WebAlgorithm {
  readonly name: string;
  readonly namedCurve?: string;
  readonly hash?: string;
}

/** The part of `SubtleCrypto` that verifies a signature (W3C Web Cryptography API, section 14). */
interface WebCrypto {
  readonly subtle: {
    importKey(
      format: 'spki',
      key: Uint8Array,
      algorithm: WebAlgorithm,
      extractable: boolean,
      usages: readonly ['verify'],
    ): Promise<object>;
    verify(
      algorithm: WebAlgorithm,
      key: object,
      signature: Uint8Array,
      data: Uint8Array,
    ): Promise<boolean>;
  };
}

/**
 * Checks a proof of possession with the WebCrypto of the platform.
 *
 * @throws Error if the platform has none, as browsers have it not on pages without TLS.
 */
export async function verifySignatureOnWeb({
  signed,
  csr,
}: SignatureQuestion): Promise<SignatureVerdict> {
  const { crypto } = globalThis as unknown as { readonly crypto?: WebCrypto };
  if (crypto?.subtle === undefined) {
    throw new Error('This platform has no WebCrypto; serve the page over https.');
  }
  const algorithm = webAlgorithmOf(csr.key, csr.signatureAlgorithm);
  if (algorithm === undefined) return 'invalid';
  let key: object;
  try {
    key = await crypto.subtle.importKey('spki', signed.spki, algorithm, false, ['verify']);
  } catch {
    return 'unusableKey';
  }
  const signature =
    csr.key.kind === 'ec' ? rawEcdsaSignature(signed.signature, csr.key.curve) : signed.signature;
  if (signature === undefined) return 'invalid';
  try {
    const isValid = await crypto.subtle.verify(algorithm, key, signature, signed.info);
    return isValid ? 'valid' : 'invalid';
  } catch {
    return 'invalid';
  }
}

function webAlgorithmOf(key: PublicKey, algorithm: SignatureAlgorithm): WebAlgorithm | undefined {
  switch (key.kind) {
    case 'ed25519':
      return { name: 'Ed25519' };
    case 'ec':
      return 'digest' in algorithm
        ? { name: 'ECDSA', namedCurve: key.curve, hash: algorithm.digest }
        : undefined;
    case 'rsa':
      return 'digest' in algorithm
        ? { name: 'RSASSA-PKCS1-v1_5', hash: algorithm.digest }
        : undefined;
    default:
      return undefined;
  }
}
