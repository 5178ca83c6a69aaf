import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CertificateSigningRequest, NodeReading } from '@ichor/policy';

/** One element of the decision vectors of @ichor/policy, the parts that are used here. */
export interface DecisionVector {
  readonly id: string;
  readonly csr: CertificateSigningRequest;
  readonly node: NodeReading;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly generate?: unknown;
  readonly expect: { readonly kind: string; readonly reasons: readonly string[] };
}

/** Path of the file. */
export const decisionVectorsFile = fileURLToPath(
  new URL('../../../policy/testdata/csr-decisions.json', import.meta.url),
);

/** All of them. */
export const decisionVectors: readonly DecisionVector[] = JSON.parse(
  readFileSync(decisionVectorsFile, 'utf8'),
);

/** The first one without options that is as wanted. */
export function vectorWith(wanted: (vector: DecisionVector) => boolean): DecisionVector {
  const found = decisionVectors.find(
    (vector) => vector.options === undefined && vector.generate === undefined && wanted(vector),
  );
  if (found === undefined) throw new Error('There is no such vector.');
  return found;
}
