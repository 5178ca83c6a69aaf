import type { ParsedCsr, PublicKey, SignatureAlgorithm } from '../parsed-csr.ts';
import { quote } from '../quote.ts';

/** What is wrong with a key and a signature algorithm: too weak, or not implemented here. */
export interface KeyStanding {
  readonly refused: readonly string[];
  readonly unsupported: readonly string[];
}

const permittedCurves: readonly string[] = ['P-256', 'P-384', 'P-521'];
const refusedCurves: readonly string[] = ['P-192', 'P-224', 'secp256k1'];
const permittedDigests: readonly string[] = ['SHA-256', 'SHA-384', 'SHA-512'];
const refusedDigests: readonly string[] = ['MD2', 'MD5', 'SHA-1'];

/** Sorts the key and the signature algorithm of a request into permitted, refused and the rest. */
export function keyStandingOf({ key, signatureAlgorithm }: ParsedCsr): KeyStanding {
  const findings = [keyFinding(key), algorithmFinding(signatureAlgorithm)];
  return {
    refused: findings.flatMap((finding) => finding?.refused ?? []),
    unsupported: findings.flatMap((finding) => finding?.unsupported ?? []),
  };
}

/** Whether a key can make signatures of an algorithm at all. */
export function isAlgorithmOfKey({ key, signatureAlgorithm }: ParsedCsr): boolean {
  switch (key.kind) {
    case 'ec':
      return signatureAlgorithm.kind === 'ecdsa';
    default:
      return signatureAlgorithm.kind === key.kind;
  }
}

type Finding = { readonly refused?: string; readonly unsupported?: string } | undefined;

function keyFinding(key: PublicKey): Finding {
  switch (key.kind) {
    case 'ed25519':
      return undefined;
    case 'dsa':
      return { refused: 'a DSA key' };
    case 'rsa':
      return rsaFinding(key.modulusBits, key.exponent);
    case 'ec':
      if (refusedCurves.includes(key.curve)) return { refused: `an EC key on ${key.curve}` };
      if (!permittedCurves.includes(key.curve)) {
        return { unsupported: `an EC key on the curve ${quote(key.curve)}` };
      }
      return key.compressed ? { unsupported: 'an EC key as a compressed point' } : undefined;
    case 'other':
      return { unsupported: `a key of the type ${quote(key.algorithm)}` };
  }
}

function rsaFinding(bits: number, exponent: bigint): Finding {
  if (bits < 2048) return { refused: `an RSA key of ${bits} bits, which is below 2048` };
  if (bits > 8192) return { refused: `an RSA key of ${bits} bits, which is above 8192` };
  if (exponent === 1n || exponent % 2n === 0n) {
    return { refused: `an RSA key with the public exponent ${exponent}` };
  }
  // The API server's parser and common TLS stacks read exponents of 31 bits at most.
  return exponent < 2n ** 31n ? undefined : { unsupported: 'an RSA key with a huge exponent' };
}

function algorithmFinding(algorithm: SignatureAlgorithm): Finding {
  switch (algorithm.kind) {
    case 'ed25519':
      return undefined;
    case 'other':
      return { unsupported: `the signature algorithm ${quote(algorithm.algorithm)}` };
    default:
      if (refusedDigests.includes(algorithm.digest)) {
        return { refused: `a signature with ${algorithm.digest}` };
      }
      return algorithm.kind !== 'dsa' && permittedDigests.includes(algorithm.digest)
        ? undefined
        : { unsupported: `a signature by ${algorithm.kind} with ${algorithm.digest}` };
  }
}
