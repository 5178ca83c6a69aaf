import { type Decision, decideCsr, explain, type PolicyOptions } from '@ichor/policy';
import { z } from 'zod';
import { UsageError } from './exit-code.ts';
import { nodeReadingOf } from './node-reading-input.ts';
import { signingRequestOf } from './signing-request-input.ts';

/** What is printed as it is. */
const printable = z
  .string()
  .regex(/^[ -~]{1,200}$/, 'must be printable ASCII of at most 200 characters');

const vector = z.object({
  id: printable,
  csr: z.unknown(),
  generate: z
    .array(z.object({ text: z.string(), times: z.int().min(0).max(10_000_000).default(1) }))
    .optional(),
  node: z.unknown(),
  options: z
    .strictObject({
      unknownNames: z.enum(['deny', 'pending']).optional(),
      maxExpirationSeconds: z.number().optional(),
    })
    .default({}),
  expect: z.object({
    kind: z.enum(['approve', 'deny', 'pending']),
    reasons: z.array(printable),
  }),
});

/** What became of a file of vectors. */
export interface VectorReport {
  readonly count: number;
  /** One sentence per vector whose decision is not the expected one. */
  readonly differences: readonly string[];
}

/**
 * Decides every vector of a file and compares the kind and the set of reasons.
 *
 * @throws UsageError where the file is no array of vectors, naming the element and the field
 */
export function runVectors(value: unknown, path: string): VectorReport {
  if (!Array.isArray(value)) throw new UsageError(`${path} is no JSON array of vectors.`);
  const differences = (value as readonly unknown[]).flatMap((element, index) => {
    const parsed = vector.safeParse(element);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const field = issue?.path.map(String).join('.') || 'the element';
      throw new UsageError(
        `${path}: element ${index} is no vector: ${field}: ${issue?.message ?? 'it has another shape'}.`,
      );
    }
    return differenceOf(parsed.data, `${path}: ${parsed.data.id}`);
  });
  return { count: value.length, differences };
}

function differenceOf(data: z.output<typeof vector>, where: string): readonly string[] {
  const csr = signingRequestOf(data.csr, where);
  const request = data.generate
    ? Buffer.from(data.generate.map(({ text, times }) => text.repeat(times)).join('')).toString(
        'base64',
      )
    : csr.spec.request;
  const judged = {
    ...csr,
    spec: { ...csr.spec, ...(request === undefined ? {} : { request }) },
  };
  const options: PolicyOptions = {
    ...(data.options.unknownNames === undefined ? {} : { unknownNames: data.options.unknownNames }),
    ...(data.options.maxExpirationSeconds === undefined
      ? {}
      : { maxExpirationSeconds: data.options.maxExpirationSeconds }),
  };
  const reading = nodeReadingOf(data.node, where);
  const decision = decideCsr(judged, reading, options);
  const found = outcome(decision.kind, reasonsOf(decision));
  const wanted = outcome(data.expect.kind, data.expect.reasons);
  if (found !== wanted) return [`${data.id}: expected ${wanted}, found ${found}`];
  const marked = explain(judged, reading, options)
    .rules.filter(({ result }) => result.kind === 'violated')
    .map(({ code }) => code);
  const violations =
    decision.kind === 'approve' ? [] : (decision.violations ?? []).map(({ code }) => code);
  return outcome('', marked) === outcome('', violations)
    ? []
    : [
        `${data.id}: the explanation marks${outcome('', marked)}, the decision names${outcome('', violations)}`,
      ];
}

function reasonsOf(decision: Decision): readonly string[] {
  switch (decision.kind) {
    case 'approve':
      return [];
    case 'deny':
      return decision.violations.map(({ code }) => code);
    case 'pending':
      return [decision.reason];
  }
}

function outcome(kind: string, reasons: readonly string[]): string {
  const sorted = [...new Set(reasons)].sort();
  return sorted.length === 0 ? kind : `${kind} ${sorted.join(' ')}`;
}
