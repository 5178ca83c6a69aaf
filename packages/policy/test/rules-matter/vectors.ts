import { readFileSync } from 'node:fs';
import type { CertificateSigningRequest, NodeReading, PolicyOptions } from '@ichor/policy';
import { type Decide, reasonsOf } from '@ichor/policy/testing';

interface Vector {
  readonly id: string;
  readonly csr: CertificateSigningRequest;
  /** Pieces of a text that is too long to be written down. */
  readonly generate?: readonly { readonly text: string; readonly times?: number }[];
  readonly node: NodeReading;
  readonly options?: PolicyOptions;
  readonly expect: { readonly kind: string; readonly reasons: readonly string[] };
}

const file = new URL('../../testdata/csr-decisions.json', import.meta.url);

function whole(vector: Vector): Vector {
  if (vector.generate === undefined) return vector;
  const text = vector.generate.map((piece) => piece.text.repeat(piece.times ?? 1)).join('');
  const request = Buffer.from(text, 'utf8').toString('base64');
  return { ...vector, csr: { ...vector.csr, spec: { ...vector.csr.spec, request } } };
}

const vectors = (JSON.parse(readFileSync(file, 'utf8')) as Vector[]).map(whole);

/** Identifiers of the vectors on which a decision function does not say what they say. */
export function vectorsThatNotice(decide: Decide): readonly string[] {
  return vectors
    .filter(({ csr, node, options, expect }) => {
      const decision = decide(csr, node, options ?? {});
      const wanted = [expect.kind, ...[...expect.reasons].sort()].join(' ');
      return [decision.kind, ...reasonsOf(decision)].join(' ') !== wanted;
    })
    .map(({ id }) => id);
}
