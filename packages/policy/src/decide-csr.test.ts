import { describe, expect, test, vi } from 'vitest';
import { assessCsr } from './decide-csr.ts';
import type { CertificateSigningRequest, Decision, NodeReading, PolicyOptions } from './index.ts';
import { decideCsr, explain } from './index.ts';
import { readWithAsn1js, type SecondParser, type SecondView } from './second-parser.ts';
import { verifySignature } from './signature.node.ts';
import {
  baselineIdentity,
  baselineReading,
  buildRequest,
  dnsEntry,
  ipEntry,
} from './testing/index.ts';

const reasonOf = (decision: Decision): string =>
  decision.kind === 'pending'
    ? decision.reason
    : decision.kind === 'deny'
      ? decision.violations.map(({ code }) => code).join()
      : 'approve';

function decideWith(secondParser: SecondParser, request = buildRequest()): Decision {
  const parts = { secondParser };
  return assessCsr(verifySignature, request, baselineReading, {}, parts).decision;
}

describe('an approval', () => {
  test('names the node and where each name comes from', () => {
    expect(decideCsr(buildRequest(), baselineReading)).toEqual({
      kind: 'approve',
      node: 'worker-1',
      evidence: [
        { name: 'worker-1', kind: 'dns', source: 'Nodename' },
        { name: '10.5.0.11', kind: 'ip', source: 'NodeIP' },
        { name: 'fd00:5::11', kind: 'ip', source: 'NodeIP' },
      ],
    });
  });

  test('carries evidence once for each spelling', () => {
    const san = [dnsEntry('worker-1'), dnsEntry('WORKER-1.'), dnsEntry('worker-1')];
    const decision = decideCsr(buildRequest({ san }), baselineReading);
    expect(decision.kind === 'approve' && decision.evidence.map(({ name }) => name)).toEqual([
      'worker-1',
      'WORKER-1.',
    ]);
  });
});

describe('the second parser', () => {
  test('is asked before an approval, and about nothing else', () => {
    const spy = vi.fn(readWithAsn1js);
    expect(reasonOf(decideWith(spy, buildRequest({ usages: ['client auth'] })))).toBe(
      'UsagesNotPermitted',
    );
    expect(reasonOf(decideWith(spy, buildRequest({ san: [dnsEntry('kubernetes')] })))).toBe(
      'NameReserved',
    );
    expect(spy).not.toHaveBeenCalled();
    expect(reasonOf(decideWith(spy))).toBe('approve');
    expect(spy).toHaveBeenCalledOnce();
  });

  const lies: readonly (readonly [string, (view: SecondView) => SecondView | undefined])[] = [
    ['no request', () => undefined],
    [
      'another common name',
      (view) => ({
        ...view,
        subject: view.subject.map((rdn) =>
          rdn.map((attribute) => ({
            ...attribute,
            value: attribute.value.replace('worker-1', 'worker-2'),
          })),
        ),
      }),
    ],
    [
      'another type of string in the subject',
      (view) => ({
        ...view,
        subject: view.subject.map((rdn) =>
          rdn.map((attribute) => ({ ...attribute, valueType: 'UTF8String' as const })),
        ),
      }),
    ],
    ['one RDN more', (view) => ({ ...view, subject: [...view.subject, []] })],
    ['the RDNs in another order', (view) => ({ ...view, subject: view.subject.toReversed() })],
    [
      'one attribute more',
      (view) => ({ ...view, attributes: [...view.attributes, { type: '1.2.3', values: 1 }] }),
    ],
    [
      'two values in the attribute',
      (view) => ({ ...view, attributes: view.attributes.map((a) => ({ ...a, values: 2 })) }),
    ],
    [
      'one extension more',
      (view) => ({
        ...view,
        extensions: [...view.extensions, { type: '2.5.29.19', critical: false }],
      }),
    ],
    [
      'a critical extension',
      (view) => ({ ...view, extensions: view.extensions.map((e) => ({ ...e, critical: true })) }),
    ],
    ['one name less', (view) => ({ ...view, san: view.san.slice(1) })],
    ['one name more', (view) => ({ ...view, san: [...view.san, { kind: 'dns', name: 'cp-1' }] })],
    [
      'another address',
      (view) => ({
        ...view,
        san: view.san.map((entry) =>
          entry.kind === 'ip' && entry.octets.length === 4
            ? { kind: 'ip', octets: [10, 5, 0, 12] }
            : entry,
        ),
      }),
    ],
  ];

  test.for(lies)('that sees %s leaves the request pending', ([, lie]) => {
    const lying: SecondParser = (der) => {
      const view = readWithAsn1js(der);
      if (view === undefined) throw new Error('the honest parser sees no request');
      return lie(view);
    };
    expect(reasonOf(decideWith(lying))).toBe('ParsersDisagree');
  });

  test('sees no request in what is none, and throws nothing', () => {
    for (const bytes of [[], [0x30], [0x30, 0x80], [0x02, 0x01, 0x00], [0x30, 0x00], [0xff]]) {
      expect(readWithAsn1js(Uint8Array.from(bytes))).toBeUndefined();
    }
  });
});

describe('the signature', () => {
  const verdicts = { asked: 0 };
  const counting: typeof verifySignature = (question) => {
    verdicts.asked++;
    return verifySignature(question);
  };
  const decide = (request: CertificateSigningRequest) =>
    reasonOf(assessCsr(counting, request, baselineReading).decision);

  test('is not judged where nothing can come of it', () => {
    verdicts.asked = 0;
    expect(decide(buildRequest({ key: 'RSA-1024' }))).toBe('KeyNotPermitted');
    expect(decide(buildRequest({ request: 'AAAA' }))).toBe('RequestMalformed');
    expect(decide(buildRequest({ signerName: 'example.com/other' }))).toBe('NotKubeletServing');
    expect(verdicts.asked).toBe(0);
    expect(decide(buildRequest({ signature: 'broken', usages: [] }))).toBe(
      'SignatureInvalid,UsagesNotPermitted',
    );
    expect(verdicts.asked).toBe(1);
  });

  test('of a key that cannot be imported makes a malformed request, and nothing more', () => {
    const request = buildRequest({ usages: [], san: [] });
    const { decision } = assessCsr(() => 'unusableKey', request, baselineReading);
    expect(reasonOf(decision)).toBe('RequestMalformed,UsagesNotPermitted');
  });
});

describe('any object and any reading', () => {
  const oddities: readonly unknown[] = [
    undefined,
    null,
    true,
    0,
    5,
    Number.NaN,
    '',
    'x',
    '\ud800',
    [],
    [null],
    [[[]]],
    {},
    { type: 5 },
    { length: 3 },
  ];

  const path = (...names: readonly string[]) => names;
  const objectPaths = [
    path('metadata'),
    path('metadata', 'deletionTimestamp'),
    path('spec'),
    ...['request', 'signerName', 'expirationSeconds', 'usages', 'username', 'groups'].map((name) =>
      path('spec', name),
    ),
    path('status'),
    path('status', 'conditions'),
    path('status', 'certificate'),
  ];
  const readingPaths = [
    path('kind'),
    path('identity'),
    ...['nodeName', 'dnsNames', 'ipAddresses', 'subnets', 'reserved', 'others'].map((name) =>
      path('identity', name),
    ),
    ...['dnsNames', 'ipAddresses', 'subnets'].map((name) => path('identity', 'reserved', name)),
  ];

  function withOddity(value: unknown, names: readonly string[], oddity: unknown): unknown {
    const [name, ...rest] = names;
    if (name === undefined) return oddity;
    const object = value as Record<string, unknown>;
    return { ...object, [name]: withOddity(object[name] ?? {}, rest, oddity) };
  }

  const decide = (csr: unknown, reading: unknown, options?: unknown) =>
    decideCsr(csr as CertificateSigningRequest, reading as NodeReading, options as PolicyOptions);

  test.for(objectPaths)('%j.%j of the object may hold anything', (names) => {
    for (const oddity of oddities) {
      const object = withOddity(buildRequest(), names, oddity);
      expect(['approve', 'deny', 'pending']).toContain(decide(object, baselineReading).kind);
    }
  });

  test.for(readingPaths)('%j.%j of the reading may hold anything', (names) => {
    for (const oddity of oddities) {
      const reading = withOddity(baselineReading, names, oddity);
      const reason = reasonOf(decide(buildRequest(), reading));
      // Empty lists of refusals and of additional subnets are good lists.
      expect(['NodeUnreadable', 'approve']).toContain(reason);
      if (reason === 'approve') expect(Array.isArray(oddity) || names[1] === 'subnets').toBe(true);
    }
  });

  test('nothing at all is not ours', () => {
    for (const oddity of oddities) {
      expect(reasonOf(decide(oddity, oddity, oddity))).toBe('NotKubeletServing');
      expect(reasonOf(decide(buildRequest(), oddity, null))).toBe('NodeUnreadable');
    }
  });

  test('a status that cannot be read counts as decided, an empty one does not', () => {
    for (const conditions of [[null], [{}], 'Approved', {}]) {
      const object = { ...buildRequest(), status: { conditions } };
      expect(reasonOf(decide(object, baselineReading))).toBe('AlreadyDecided');
    }
    for (const status of [null, {}, { conditions: null }, { conditions: [], certificate: '' }]) {
      expect(reasonOf(decide({ ...buildRequest(), status }, baselineReading))).toBe('approve');
    }
  });

  test('usages and lifetimes of another type are none that is permitted', () => {
    const usages = ['digital signature', 'server auth', 5];
    expect(reasonOf(decide(buildRequest({ spec: { usages } }), baselineReading))).toBe(
      'UsagesNotPermitted',
    );
    for (const expirationSeconds of ['3600', 3600.5, {}, true]) {
      const request = buildRequest({ spec: { expirationSeconds } });
      expect(reasonOf(decide(request, baselineReading))).toBe('LifetimeNotPermitted');
    }
    expect(reasonOf(decide(buildRequest({ expirationSeconds: 3600 }), baselineReading))).toBe(
      'approve',
    );
  });
});

describe('details', () => {
  const detailsOf = (decision: Decision): string =>
    decision.kind === 'deny' ? decision.violations.map(({ detail }) => detail).join(' ') : '';

  test('quote strangers safely and shortly', () => {
    const username = `\u001b]0;owned\u0007${'x'.repeat(100_000)}`;
    const san = Array.from({ length: 200 }, () => dnsEntry('*.\u0001evil'));
    const detail = detailsOf(decideCsr(buildRequest({ username, san }), baselineReading));
    expect(detail).toMatch(/^[ -~]+$/);
    expect(detail).toContain('"\\u{1b}]0;owned\\u{7}xxx');
    expect(detail).toContain('and 194 more');
    expect(detail.length).toBeLessThan(2000);
  });

  test('name the machines that hold what was asked for', () => {
    const request = buildRequest({ san: [ipEntry('10.5.0.12'), dnsEntry('cp-1')] });
    const decision = decideCsr(request, baselineReading);
    expect(decision).toEqual({
      kind: 'deny',
      violations: [
        {
          code: 'NameOfAnotherMachine',
          detail: '10.5.0.12 belongs to "worker-2"; "cp-1" belongs to "cp-1".',
          machines: ['worker-2', 'cp-1'],
        },
      ],
    });
  });
});

test('inputs are left as they were, and the same inputs give the same answer', () => {
  const freeze = <T>(value: T): T => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(freeze);
    return Object.freeze(value);
  };
  const request = freeze(structuredClone(buildRequest()));
  const reading = freeze(structuredClone(baselineReading));
  const first = decideCsr(request, reading, freeze({}));
  expect(first.kind).toBe('approve');
  expect(decideCsr(request, reading, freeze({}))).toEqual(first);
});

test('200 KiB of garbage is refused for its length, without being decoded', () => {
  const garbage = buildRequest({ request: '!'.repeat(200 * 1024) });
  const decision = decideCsr(garbage, baselineReading);
  expect(decision.kind === 'deny' && decision.violations[0].detail).toContain(
    'longer than 65536 octets',
  );
});

test('explain says why a rule was not asked', () => {
  const { rules } = explain(buildRequest({ request: '' }), baselineReading);
  const results = new Map(rules.map(({ code, result }) => [code, result]));
  expect(results.get('RequestMalformed')?.kind).toBe('violated');
  expect(results.get('RequesterNotNode')).toEqual({ kind: 'passed' });
  expect(results.get('SanMissing')).toEqual({
    kind: 'notJudged',
    reason: 'There is no request that could be read.',
  });
  expect(results.get('NameReserved')).toEqual({
    kind: 'notJudged',
    reason: 'A rule that needs no identity is broken.',
  });
});

test('a rule that is left out of the table is not missed silently', () => {
  const request = buildRequest({ san: [dnsEntry('worker-1'), dnsEntry('kubernetes')] });
  const rules = explain(request, baselineReading).rules;
  expect(rules.find(({ result }) => result.kind === 'violated')?.code).toBe('NameReserved');
  const { decision } = assessCsr(verifySignature, request, baselineReading, {}, { rules: [] });
  expect(reasonOf(decision)).toBe('NameUnverified');
});

test('an identity that only an administrator wrote was not read from a node', () => {
  const configured = (value: string) => ({ value, source: 'Configured' }) as const;
  const identity = { ...baselineIdentity, dnsNames: [configured('worker-1')] };
  expect(reasonOf(decideCsr(buildRequest(), { kind: 'read', identity }))).toBe('NodeUnreadable');
  const both = [...baselineIdentity.dnsNames, configured('worker-1')];
  const whole = { ...baselineIdentity, dnsNames: both };
  expect(reasonOf(decideCsr(buildRequest(), { kind: 'read', identity: whole }))).toBe('approve');
});

describe('a request that cannot be judged', () => {
  const throwing = {
    get spec(): never {
      throw new Error('a getter');
    },
  };

  test('waits, where its own object throws; a plain object of the same shape is judged', () => {
    expect(decideCsr(throwing, baselineReading)).toEqual({
      kind: 'pending',
      reason: 'RequestUnsupported',
      detail: 'Judging the request failed on the way.',
    });
    expect(explain(throwing, baselineReading).rules.map(({ result }) => result.kind)).not.toContain(
      'passed',
    );
    expect(decideCsr({ spec: { ...buildRequest().spec } }, baselineReading).kind).toBe('approve');
  });

  test('waits, where the second parser throws', () => {
    const failing = () => {
      throw new Error('a fault of a library');
    };
    expect(reasonOf(decideWith(failing))).toBe('RequestUnsupported');
    expect(reasonOf(decideWith(readWithAsn1js))).toBe('approve');
  });
});
