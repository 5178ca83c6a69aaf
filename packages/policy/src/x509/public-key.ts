import { contentOf, type Element, isUniversal, universal } from '../der/element.ts';
import { malformed } from '../der/malformed.ts';
import { dottedOid } from '../der/object-identifier.ts';
import { readDer } from '../der/reader.ts';
import type { PublicKey } from '../parsed-csr.ts';
import { readAlgorithmIdentifier } from './algorithm-identifier.ts';
import { coordinateSize, isPointOnCurve } from './curves.ts';
import { curveOfOid, oid } from './oids.ts';

/**
 * Reads a SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7). Keys of a known type must be keys:
 * exact parameters, a point on the named curve, positive integers. Whether they are strong enough
 * is a rule's question.
 */
export function readPublicKey(element: Element | undefined): PublicKey {
  if (!isUniversal(element, universal.sequence)) malformed('the public key is missing');
  const [identifier, value, surplus] = element.children;
  if (!isUniversal(value, universal.bitString) || surplus !== undefined) {
    malformed('the public key is not a SubjectPublicKeyInfo');
  }
  const { algorithm, parameters } = readAlgorithmIdentifier(identifier, 'the public key');
  const octets = wholeOctetsOf(value, 'the public key');
  switch (algorithm) {
    case oid.rsaEncryption:
      if (!isUniversal(parameters, universal.null)) {
        malformed('the parameters of an RSA key are not NULL');
      }
      return readRsaKey(value);
    case oid.ecPublicKey:
      return readEcKey(parameters, octets);
    case oid.ed25519:
      if (parameters !== undefined) malformed('an Ed25519 key has parameters');
      if (octets.length !== 32) malformed('an Ed25519 key does not have 32 octets');
      return { kind: 'ed25519' };
    case oid.dsa:
      return { kind: 'dsa' };
    default:
      return { kind: 'other', algorithm };
  }
}

/** The content of a BIT STRING that must be whole octets, without the octet that counts unused bits. */
export function wholeOctetsOf(element: Element, where: string): Uint8Array {
  const content = contentOf(element);
  if (content[0] !== 0) malformed(`${where} has unused bits`);
  return content.subarray(1);
}

/** RSAPublicKey (RFC 8017, appendix A.1.1). */
function readRsaKey(value: Element): PublicKey {
  const key = readDer(value.bytes, value.content + 1, value.end, value.level + 1);
  const [modulus, exponent, surplus] = key.children;
  if (
    !isUniversal(key, universal.sequence) ||
    !isUniversal(modulus, universal.integer) ||
    !isUniversal(exponent, universal.integer) ||
    surplus !== undefined
  ) {
    malformed('an RSA key is not a modulus and an exponent');
  }
  const modulusOctets = contentOf(modulus);
  const exponentOctets = contentOf(exponent);
  if (isNegative(modulusOctets) || isNegative(exponentOctets)) {
    malformed('an RSA key has a negative part');
  }
  return { kind: 'rsa', modulusBits: bitsOf(modulusOctets), exponent: exponentOf(exponentOctets) };
}

const isNegative = (octets: Uint8Array): boolean => (octets[0] ?? 0) >= 0x80;

/** Bits of a positive INTEGER; the octet that keeps a set top bit from being a sign counts none. */
function bitsOf(octets: Uint8Array): number {
  const magnitude = octets[0] === 0 ? octets.subarray(1) : octets;
  const [lead] = magnitude;
  return lead === undefined ? 0 : magnitude.length * 8 - (Math.clz32(lead) - 24);
}

/** Of an exponent longer than eight octets only its parity and that it is too long are kept. */
function exponentOf(octets: Uint8Array): bigint {
  if (octets.length > 8) return 2n ** 64n + BigInt((octets.at(-1) ?? 0) & 1);
  let exponent = 0n;
  for (const octet of octets) exponent = exponent * 256n + BigInt(octet);
  return exponent;
}

/** RFC 5480: the parameters name a curve, the key is an uncompressed or a compressed point. */
function readEcKey(parameters: Element | undefined, point: Uint8Array): PublicKey {
  if (!isUniversal(parameters, universal.objectIdentifier)) {
    malformed('an EC key does not name its curve');
  }
  const identifier = dottedOid(contentOf(parameters));
  const curve = curveOfOid.get(identifier) ?? identifier;
  const size = coordinateSize(curve);
  if (size === undefined) return { kind: 'ec', curve };
  if (point.length === 1 + size && (point[0] === 0x02 || point[0] === 0x03)) {
    return { kind: 'ec', curve, compressed: true };
  }
  if (!isPointOnCurve(curve, point)) malformed(`an EC key is not a point on ${curve}`);
  return { kind: 'ec', curve };
}
