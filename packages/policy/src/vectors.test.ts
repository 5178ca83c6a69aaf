import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as browser from './index.browser.ts';
import type { CertificateSigningRequest, Decision, NodeReading, PolicyOptions } from './index.ts';
import * as node from './index.ts';

interface Vector {
  readonly id: string;
  readonly title: string;
  readonly csr: CertificateSigningRequest;
  readonly generate?: readonly { readonly text: string; readonly times?: number }[];
  readonly node: NodeReading;
  readonly options?: PolicyOptions;
  readonly expect: { readonly kind: Decision['kind']; readonly reasons: readonly string[] };
  readonly pairedWith?: string;
}

const file = new URL('../testdata/csr-decisions.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[];
const byId = new Map(vectors.map((vector) => [vector.id, vector]));

function requestOf({ csr, generate }: Vector): CertificateSigningRequest {
  if (generate === undefined) return csr;
  const text = generate.map((part) => part.text.repeat(part.times ?? 1)).join('');
  const request = Buffer.from(text, 'utf8').toString('base64');
  return { ...csr, spec: { ...csr.spec, request } };
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

const summary = (decision: Decision) => ({
  kind: decision.kind,
  reasons: reasonsOf(decision).toSorted(),
});

const expected = ({ expect: { kind, reasons } }: Vector) => ({ kind, reasons: reasons.toSorted() });

/** Codes of the violations that a decision names, those of a softened denial included. */
function violationsOf(decision: Decision): readonly string[] {
  if (decision.kind === 'approve') return [];
  return (decision.violations ?? []).map(({ code }) => code);
}

describe('the decision vectors', () => {
  test('are there, and every negative has a nearest vector of another verdict', () => {
    console.log(`${vectors.length} decision vectors`);
    expect(vectors.length).toBe(byId.size);
    expect(vectors.length).toBeGreaterThanOrEqual(524);
    for (const { id, expect: outcome, pairedWith } of vectors) {
      if (outcome.kind === 'approve') continue;
      expect(byId.get(pairedWith ?? '')?.expect.kind, `${id} is paired with ${pairedWith}`).toBe(
        'approve',
      );
    }
  });

  test.for(vectors.map((vector) => [vector.id, vector.title, vector] as const))(
    '%s: %s',
    async ([, , vector]) => {
      const request = requestOf(vector);
      const decision = node.decideCsr(request, vector.node, vector.options);
      expect(summary(decision)).toEqual(expected(vector));

      const explanation = node.explain(request, vector.node, vector.options);
      expect(explanation.decision).toEqual(decision);
      expect(explanation.rules.map(({ code }) => code)).toEqual(Object.keys(node.denyReasons));
      expect(
        explanation.rules.flatMap(({ code, result }) => (result.kind === 'violated' ? [code] : [])),
      ).toEqual(violationsOf(decision));

      const later = await browser.explain(request, vector.node, vector.options);
      expect(later).toEqual(explanation);
      expect(await browser.decideCsr(request, vector.node, vector.options)).toEqual(decision);
    },
  );
});

test('an approval rests on every rule', () => {
  for (const vector of vectors.filter((candidate) => candidate.expect.kind === 'approve')) {
    const { rules } = node.explain(requestOf(vector), vector.node, vector.options);
    expect(
      rules.filter(({ result }) => result.kind !== 'passed').map(({ code }) => code),
      vector.id,
    ).toEqual([]);
  }
});

test('both entries export the same names', () => {
  expect(Object.keys(browser).toSorted()).toEqual(Object.keys(node).toSorted());
});
