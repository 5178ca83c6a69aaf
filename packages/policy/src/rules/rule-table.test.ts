import { describe, expect, test } from 'vitest';
import type { Decision, ParsedCsr, PolicyOptions } from '../index.ts';
import { judge } from '../judge.ts';
import { baselineReading } from '../testing/index.ts';
import { denyReasons } from './reasons.ts';
import { ruleTable } from './rule-table.ts';

test('every deny reason has one rule, in the order of the reasons', () => {
  expect(ruleTable.map(({ code }) => code)).toEqual(Object.keys(denyReasons));
});

test('rules that need no identity come before those that compare with one', () => {
  const steps = ruleTable.map(({ step }) => step);
  expect(steps.lastIndexOf('structure')).toBeLessThan(steps.indexOf('names'));
});

test('every question is one', () => {
  for (const { question } of ruleTable) expect(question).toMatch(/^[A-Z].*\?$/);
});

const honest: ParsedCsr = {
  subject: [
    [{ type: '2.5.4.10', valueType: 'PrintableString', value: 'system:nodes' }],
    [{ type: '2.5.4.3', valueType: 'PrintableString', value: 'system:node:worker-1' }],
  ],
  key: { kind: 'ec', curve: 'P-256' },
  signatureAlgorithm: { kind: 'ecdsa', digest: 'SHA-256' },
  attributes: [{ type: '1.2.840.113549.1.9.14', values: 1 }],
  extensions: [{ type: '2.5.29.17', critical: false }],
  san: [{ kind: 'dns', name: 'worker-1' }],
};
const requester = { username: 'system:node:worker-1', groups: ['system:nodes'] };
const usages = ['digital signature', 'server auth'];

function judgeCsr(
  changes: Partial<ParsedCsr>,
  seconds?: number,
  options: PolicyOptions = {},
): Decision {
  const terms = seconds === undefined ? { usages } : { usages, expirationSeconds: seconds };
  return judge({ ...honest, ...changes }, requester, terms, baselineReading, options);
}

const outcome = (decision: Decision): string =>
  decision.kind === 'deny'
    ? decision.violations.map(({ code }) => code).join()
    : decision.kind === 'pending'
      ? decision.reason
      : 'approve';

test('a request written by hand is judged like one that was read', () => {
  expect(judgeCsr({})).toEqual({
    kind: 'approve',
    node: 'worker-1',
    evidence: [{ name: 'worker-1', kind: 'dns', source: 'Nodename' }],
  });
});

describe('keys and algorithms', () => {
  const rsa = (modulusBits: number, exponent = 65537n) =>
    ({
      key: { kind: 'rsa', modulusBits, exponent },
      signatureAlgorithm: { kind: 'rsa', digest: 'SHA-256' },
    }) as const;
  const ec = (curve: string, compressed = false) =>
    ({ key: { kind: 'ec', curve, compressed } }) as const;
  const ecdsa = (digest: 'MD5' | 'SHA-1' | 'SHA-224' | 'SHA-384' | 'SHA-512') =>
    ({ signatureAlgorithm: { kind: 'ecdsa', digest } }) as const;

  const rows: readonly (readonly [string, Partial<ParsedCsr>, string])[] = [
    ['RSA of 2047 bits', rsa(2047), 'KeyNotPermitted'],
    ['RSA of 2048 bits', rsa(2048), 'approve'],
    ['RSA of 8192 bits', rsa(8192), 'approve'],
    ['RSA of 8193 bits', rsa(8193), 'KeyNotPermitted'],
    ['RSA without a modulus', rsa(0), 'KeyNotPermitted'],
    ['RSA with exponent 0', rsa(2048, 0n), 'KeyNotPermitted'],
    ['RSA with exponent 1', rsa(2048, 1n), 'KeyNotPermitted'],
    ['RSA with exponent 3', rsa(2048, 3n), 'approve'],
    ['RSA with exponent 65536', rsa(2048, 65536n), 'KeyNotPermitted'],
    ['RSA with an exponent of 31 bits', rsa(2048, 2n ** 31n - 1n), 'approve'],
    ['RSA with an exponent of 32 bits', rsa(2048, 2n ** 31n + 1n), 'RequestUnsupported'],
    ['P-384', ec('P-384'), 'approve'],
    ['P-521', ec('P-521'), 'approve'],
    ['P-192', ec('P-192'), 'KeyNotPermitted'],
    ['P-224', ec('P-224'), 'KeyNotPermitted'],
    ['secp256k1', ec('secp256k1'), 'KeyNotPermitted'],
    ['a compressed point', ec('P-256', true), 'RequestUnsupported'],
    ['another curve', ec('1.3.36.3.3.2.8.1.1.7'), 'RequestUnsupported'],
    ['DSA', { key: { kind: 'dsa' } }, 'KeyNotPermitted'],
    [
      'another key type',
      { key: { kind: 'other', algorithm: '2.16.840.1.101.3.4.3.18' } },
      'RequestUnsupported',
    ],
    ['ECDSA with SHA-384', ecdsa('SHA-384'), 'approve'],
    ['ECDSA with SHA-512', ecdsa('SHA-512'), 'approve'],
    ['ECDSA with SHA-224', ecdsa('SHA-224'), 'RequestUnsupported'],
    ['ECDSA with SHA-1', ecdsa('SHA-1'), 'KeyNotPermitted'],
    ['ECDSA with MD5', ecdsa('MD5'), 'KeyNotPermitted'],
    [
      'DSA with SHA-256 by an EC key',
      { signatureAlgorithm: { kind: 'dsa', digest: 'SHA-256' } },
      'RequestUnsupported',
    ],
    ['Ed25519 by an EC key', { signatureAlgorithm: { kind: 'ed25519' } }, 'SignatureInvalid'],
    [
      'RSA by an EC key',
      { signatureAlgorithm: { kind: 'rsa', digest: 'SHA-256' } },
      'SignatureInvalid',
    ],
    ['Ed25519', { key: { kind: 'ed25519' }, signatureAlgorithm: { kind: 'ed25519' } }, 'approve'],
    [
      'a refused key beside an algorithm that is unknown',
      { ...rsa(1024), signatureAlgorithm: { kind: 'other', algorithm: '1.2.3' } },
      'KeyNotPermitted',
    ],
  ];

  test.for(rows)('%s', ([, changes, expected]) => {
    expect(outcome(judgeCsr(changes))).toBe(expected);
  });
});

describe('the subject', () => {
  const o = honest.subject[0] ?? [];
  const cn = honest.subject[1] ?? [];
  const value = (type: string, valueType: 'UTF8String' | 'BMPString', text: string) => [
    { type, valueType, value: text },
  ];

  test.for([
    ['CN before O', [cn, o], 'approve'],
    ['CN as UTF8String', [o, value('2.5.4.3', 'UTF8String', 'system:node:worker-1')], 'approve'],
    ['no subject', [], 'SubjectNotExact'],
    ['O alone', [o], 'SubjectNotExact'],
    ['two O', [o, o], 'SubjectNotExact'],
    ['one RDN of both', [[...o, ...cn]], 'SubjectNotExact'],
    ['two RDNs, one of both', [[...o, ...cn], []], 'SubjectNotExact'],
    [
      'another attribute in place of O',
      [value('2.5.4.11', 'UTF8String', 'system:nodes'), cn],
      'SubjectNotExact',
    ],
    [
      'CN as BMPString',
      [o, value('2.5.4.3', 'BMPString', [...'system:node:worker-1'].map((c) => `\0${c}`).join(''))],
      'SubjectNotExact',
    ],
  ] as const)('%s', ([, subject, expected]) => {
    expect(outcome(judgeCsr({ subject }))).toBe(expected);
  });
});

describe('lifetimes', () => {
  test.for([
    [599, undefined, 'LifetimeNotPermitted'],
    [600, undefined, 'approve'],
    [2 ** 31 - 1, undefined, 'approve'],
    [3600, 3600, 'approve'],
    [3601, 3600, 'LifetimeNotPermitted'],
    [3600, Number.NaN, 'LifetimeNotPermitted'],
  ] as const)('%d s where %d s is the maximum', ([seconds, longest, expected]) => {
    const options = longest === undefined ? {} : { maxExpirationSeconds: longest };
    expect(outcome(judgeCsr({}, seconds, options))).toBe(expected);
  });
});
