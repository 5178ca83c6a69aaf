import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { CertificateSigningRequest } from './csr/signing-request.ts';
import { assessCsr } from './decide-csr.ts';
import type { Decision, PolicyOptions } from './decision.ts';
import type { NodeReading } from './identity/node-identity.ts';
import { decideCsr, denyReasons, explain, judge, parseCsr, pendingReasons } from './index.ts';
import type { Rule } from './rules/rule.ts';
import { ruleTable } from './rules/rule-table.ts';
import { readWithAsn1js } from './second-parser.ts';
import { verifySignature } from './signature.node.ts';
import {
  buildCase,
  type Decide,
  type DecisionLaw,
  decisionLaws,
  drawFrom,
  faultTable,
  faultyCases,
  honestCases,
  hostileLaws,
  type LawSubject,
  law,
  nearMissCases,
  reasonsOf,
  secondParserLaw,
  shown,
  twoDenials,
} from './testing/index.ts';

const seed = Number(process.env['ICHOR_SEED'] ?? Date.now() % 2 ** 31);
fc.configureGlobal({ seed });

/** Cases for the laws on real, signed bytes, and for those on parsed data. */
const signedCases = 30_000;
const judgedCases = 75_000;

const counts = { cases: 0, decisions: new Map<string, number>() };

function count(decision: Decision): void {
  const add = (key: string) => {
    counts.decisions.set(key, (counts.decisions.get(key) ?? 0) + 1);
  };
  add(decision.kind);
  for (const reason of reasonsOf(decision)) add(`${decision.kind} ${reason}`);
}

const decide: Decide = (csr, reading, options) => {
  const decision = decideCsr(csr, reading, options);
  // The net under a decision hides an exception: here it is one.
  if (decision.kind === 'pending' && decision.detail.includes('failed on the way')) {
    throw new Error(`An exception inside: ${JSON.stringify(csr)}`);
  }
  count(decision);
  return decision;
};

/** Rules alone: what is parsed, with the signature taken as good and the object as undecided. */
function judgeBy(rules: readonly Rule[]): Decide {
  return ({ spec }, reading, options) => judgeSpec(spec, reading, options, rules);
}

const judgeOnly = judgeBy(ruleTable);

function judgeSpec(
  spec: CertificateSigningRequest['spec'],
  reading: NodeReading,
  options: PolicyOptions,
  rules: readonly Rule[],
): Decision {
  const read = parseCsr(spec.request ?? '');
  if (read.kind === 'malformed') {
    return { kind: 'deny', violations: [{ code: 'RequestMalformed', detail: read.problem }] };
  }
  const requester = { username: spec.username ?? '', groups: spec.groups ?? [] };
  const terms = {
    usages: spec.usages ?? [],
    ...(spec.expirationSeconds === undefined ? {} : { expirationSeconds: spec.expirationSeconds }),
  };
  return judge(read.csr, requester, terms, reading, options, rules);
}

const neverJudged = new Set<string>([
  'RequestMalformed',
  'SignatureInvalid',
  'NotKubeletServing',
  'AlreadyDecided',
]);

const onBytes: LawSubject = { decide, build: buildCase, faults: faultTable };
const onParsedData: LawSubject = {
  decide: judgeOnly,
  // Nobody looks at the signature here, so none is made.
  build: (parts) =>
    buildCase({ ...parts, changes: { ...parts.changes, signature: new Uint8Array(64) } }),
  faults: faultTable.filter(({ expect: { reasons } }) =>
    reasons.every((reason) => !neverJudged.has(reason)),
  ),
};

const everyCase = fc.oneof(honestCases(), nearMissCases(), faultyCases());

const agreement: DecisionLaw = law(
  'explain marks exactly what the decision says',
  { weight: 10 },
  everyCase,
  (parts) => {
    const { csr, reading, options } = buildCase(parts);
    const explanation = explain(csr, reading, options);
    const decision = decide(csr, reading, options);
    expect(explanation.decision).toEqual(decision);
    const violated = explanation.rules.filter(({ result }) => result.kind === 'violated');
    const codes = violated.map(({ code }) => code).sort();
    if (decision.kind === 'approve') {
      expect(explanation.rules.filter(({ result }) => result.kind !== 'passed')).toEqual([]);
    }
    if (decision.kind === 'deny') expect(codes).toEqual(reasonsOf(decision));
  },
);

const sameByJudge: DecisionLaw = law(
  'rules alone say what the whole decision says',
  { weight: 8 },
  fc.oneof(honestCases(), nearMissCases(onParsedData.faults)),
  (parts) => {
    const { csr, reading, options } = buildCase(parts);
    expect(shown(judgeOnly(csr, reading, options))).toBe(shown(decide(csr, reading, options)));
  },
);

const neverBelieved: DecisionLaw = secondParserLaw((tell) => (csr, reading, options) => {
  const secondParser: typeof readWithAsn1js = (der) => {
    const seen = readWithAsn1js(der);
    return seen && tell(seen);
  };
  return assessCsr(verifySignature, csr, reading, options, { secondParser }).decision;
});

const orderOfRules: DecisionLaw = law(
  'the order of the rule table makes no difference to what is found',
  { weight: 8 },
  fc.tuple(fc.oneof(honestCases(), twoDenials(), nearMissCases(onParsedData.faults)), fc.nat()),
  ([parts, number]) => {
    const { csr, reading, options } = onParsedData.build(parts);
    const otherwise = judgeBy(drawFrom(number).shuffled(ruleTable));
    expect(shown(otherwise(csr, reading, options))).toBe(shown(judgeOnly(csr, reading, options)));
  },
);

function check(laws: readonly DecisionLaw[], total: number): void {
  const weights = laws.reduce((sum, { weight }) => sum + weight, 0);
  for (const { name, weight, leastApplied, check: checkLaw } of laws) {
    it(name, () => {
      const report = checkLaw({ seed, cases: Math.ceil((total * weight) / weights) });
      counts.cases += report.cases;
      expect(report.applied / report.cases).toBeGreaterThanOrEqual(leastApplied);
    });
  }
}

describe('laws of a decision on signed bytes', () => {
  check(
    [...decisionLaws(onBytes), ...hostileLaws(decide), agreement, sameByJudge, neverBelieved],
    signedCases,
  );
});

describe('laws of the rules alone', () => {
  check([...decisionLaws(onParsedData), orderOfRules], judgedCases);
});

describe('the generated cases', () => {
  it('are at least 100,000', () => {
    expect(counts.cases).toBeGreaterThanOrEqual(100_000);
  });

  it('are approved by decideCsr in at least a fifth', () => {
    const kinds = ['approve', 'deny', 'pending'].map((kind) => counts.decisions.get(kind) ?? 0);
    const all = kinds.reduce((sum, each) => sum + each, 0);
    expect((kinds[0] ?? 0) / all).toBeGreaterThanOrEqual(0.2);
  });

  it.each([
    ...Object.keys(denyReasons).map((reason) => `deny ${reason}`),
    ...Object.keys(pendingReasons)
      .filter((reason) => reason !== 'ParsersDisagree')
      .map((reason) => `pending ${reason}`),
  ])('earn "%s" from decideCsr at least 100 times', (key) => {
    expect(counts.decisions.get(key) ?? 0).toBeGreaterThanOrEqual(100);
  });
});

afterAll(() => {
  const kinds = ['approve', 'deny', 'pending'];
  const all = kinds.reduce((sum, kind) => sum + (counts.decisions.get(kind) ?? 0), 0);
  const rows = [...counts.decisions].sort(([left], [right]) => left.localeCompare(right));
  const lines = rows.map(([key, times]) => {
    const share = ((100 * times) / all).toFixed(2).padStart(6);
    return `  ${key.padEnd(32)}${String(times).padStart(8)}${share} %`;
  });
  console.log(
    [
      `${counts.cases} generated cases, seed ${seed} (ICHOR_SEED repeats it);`,
      `${all} decisions of decideCsr:`,
      ...lines,
    ].join('\n'),
  );
});
