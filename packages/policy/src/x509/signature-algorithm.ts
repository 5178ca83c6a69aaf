import { type Element, isUniversal, universal } from '../der/element.ts';
import { malformed } from '../der/malformed.ts';
import type { SignatureAlgorithm } from '../parsed-csr.ts';
import { readAlgorithmIdentifier } from './algorithm-identifier.ts';
import { oid } from './oids.ts';

/** RFC 3279, 4055, 5758; the arcs under 1.3.14.3.2 are the older names of OIW. */
const algorithmOfOid: ReadonlyMap<string, SignatureAlgorithm> = new Map<string, SignatureAlgorithm>(
  [
    ['1.2.840.113549.1.1.2', { kind: 'rsa', digest: 'MD2' }],
    ['1.2.840.113549.1.1.4', { kind: 'rsa', digest: 'MD5' }],
    ['1.2.840.113549.1.1.5', { kind: 'rsa', digest: 'SHA-1' }],
    ['1.2.840.113549.1.1.14', { kind: 'rsa', digest: 'SHA-224' }],
    ['1.2.840.113549.1.1.11', { kind: 'rsa', digest: 'SHA-256' }],
    ['1.2.840.113549.1.1.12', { kind: 'rsa', digest: 'SHA-384' }],
    ['1.2.840.113549.1.1.13', { kind: 'rsa', digest: 'SHA-512' }],
    ['1.3.14.3.2.3', { kind: 'rsa', digest: 'MD5' }],
    ['1.3.14.3.2.29', { kind: 'rsa', digest: 'SHA-1' }],
    ['1.2.840.10045.4.1', { kind: 'ecdsa', digest: 'SHA-1' }],
    ['1.2.840.10045.4.3.1', { kind: 'ecdsa', digest: 'SHA-224' }],
    ['1.2.840.10045.4.3.2', { kind: 'ecdsa', digest: 'SHA-256' }],
    ['1.2.840.10045.4.3.3', { kind: 'ecdsa', digest: 'SHA-384' }],
    ['1.2.840.10045.4.3.4', { kind: 'ecdsa', digest: 'SHA-512' }],
    ['1.2.840.10040.4.3', { kind: 'dsa', digest: 'SHA-1' }],
    ['1.3.14.3.2.27', { kind: 'dsa', digest: 'SHA-1' }],
    ['2.16.840.1.101.3.4.3.1', { kind: 'dsa', digest: 'SHA-224' }],
    ['2.16.840.1.101.3.4.3.2', { kind: 'dsa', digest: 'SHA-256' }],
    [oid.ed25519, { kind: 'ed25519' }],
  ],
);

/**
 * Reads the AlgorithmIdentifier of a signature. RSA carries NULL, ECDSA and Ed25519 carry nothing
 * (RFC 4055, section 2.1; RFC 5758, section 3.2; RFC 8410, section 3). The parameters of what is
 * unknown here, and of DSA, are not judged.
 */
export function readSignatureAlgorithm(element: Element | undefined): SignatureAlgorithm {
  const { algorithm, parameters } = readAlgorithmIdentifier(element, 'the signature algorithm');
  const known = algorithmOfOid.get(algorithm);
  if (known === undefined) return { kind: 'other', algorithm };
  if (known.kind === 'rsa' && !isUniversal(parameters, universal.null)) {
    malformed('the parameters of an RSA signature algorithm are not NULL');
  }
  if ((known.kind === 'ecdsa' || known.kind === 'ed25519') && parameters !== undefined) {
    malformed('a signature algorithm has parameters where it may have none');
  }
  return known;
}
