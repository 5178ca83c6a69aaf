import { contentOf, type Element, isUniversal, universal } from '../der/element.ts';
import { Malformed } from '../der/malformed.ts';
import { readDer } from '../der/reader.ts';
import { coordinateSize } from './curves.ts';

/**
 * The two numbers of an ECDSA signature (RFC 3279, section 2.2.3) as fixed-width octets one after
 * the other, which is the form of IEEE P1363 and of WebCrypto. Undefined unless the value is
 * canonical DER of two positive numbers that fit the curve.
 */
export function rawEcdsaSignature(signature: Uint8Array, curve: string): Uint8Array | undefined {
  const size = coordinateSize(curve);
  const parts = readParts(signature);
  if (size === undefined || parts === undefined) return undefined;
  const raw = new Uint8Array(2 * size);
  for (const [index, part] of parts.entries()) {
    const content = contentOf(part);
    if ((content[0] ?? 0) >= 0x80) return undefined;
    const magnitude = content[0] === 0 ? content.subarray(1) : content;
    if (magnitude.length === 0 || magnitude.length > size) return undefined;
    raw.set(magnitude, (index + 1) * size - magnitude.length);
  }
  return raw;
}

function readParts(signature: Uint8Array): readonly Element[] | undefined {
  try {
    const sequence = readDer(signature);
    const isPair = isUniversal(sequence, universal.sequence) && sequence.children.length === 2;
    return isPair && sequence.children.every((part) => isUniversal(part, universal.integer))
      ? sequence.children
      : undefined;
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}
