import { hexOfBytes } from '../octets.ts';

/** Longest content that is written in dotted form; identifiers in use have less than a third. */
const longestDotted = 64;

/**
 * The dotted form of the content of an OBJECT IDENTIFIER (X.690, 8.19) that was checked to be
 * canonical. Arcs may have any size. Beyond 64 octets it is hex instead, because converting an arc
 * of tens of thousands of digits takes time that no request is worth.
 */
export function dottedOid(content: Uint8Array): string {
  if (content.length > longestDotted) return `0x${hexOfBytes(content)}`;
  let dotted = '';
  let arc = 0;
  for (const octet of content) {
    if (arc > largestExactArc) return dottedOidOfLargeArcs(content);
    arc = arc * 128 + (octet & 0x7f);
    if (octet >= 0x80) continue;
    if (dotted === '') {
      const root = arc < 80 ? Math.floor(arc / 40) : 2;
      dotted = `${root}.${arc - root * 40}`;
    } else {
      dotted += `.${arc}`;
    }
    arc = 0;
  }
  return dotted;
}

const largestExactArc = 2 ** 45;

/** The same with exact integers, several times slower. */
function dottedOidOfLargeArcs(content: Uint8Array): string {
  const arcs: bigint[] = [];
  let arc = 0n;
  for (const octet of content) {
    arc = arc * 128n + BigInt(octet & 0x7f);
    if (octet >= 0x80) continue;
    arcs.push(arc);
    arc = 0n;
  }
  const [first = 0n, ...rest] = arcs;
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...rest].join('.');
}
