import { describe, expect, it } from 'vitest';
import { accessOf, parseTalosconfig } from './talosconfig.ts';
import { TalosconfigError } from './talosconfig-error.ts';
import { issueCertificate, makeCertificateAuthority } from './testing/certificates.ts';
import { fakeClusterCertificates } from './testing/fake-cluster.ts';
import { talosconfigText } from './testing/talosconfig-text.ts';

const cluster = fakeClusterCertificates();
const access = cluster.access('10.5.0.2', 'cp-2.lab.example:50001');
const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');

interface Fields {
  readonly ca?: string;
  readonly crt?: string;
  readonly key?: string;
  readonly more?: readonly string[];
}

/** A talosconfig with one context, whose fields are given as they stand in the file. */
function text(fields: Fields = {}): string {
  return [
    'context: lab',
    'contexts:',
    '  lab:',
    `    ca: ${fields.ca ?? base64(access.ca)}`,
    `    crt: ${fields.crt ?? base64(access.crt)}`,
    `    key: ${fields.key ?? base64(access.key)}`,
    ...(fields.more ?? ['    endpoints: [10.5.0.2]']),
  ].join('\n');
}

function use(content: string, contextName?: string, now?: Date) {
  return accessOf(parseTalosconfig(content, 'lab.yaml'), contextName, now);
}

function problem(content: string, contextName?: string, now?: Date): TalosconfigError {
  try {
    use(content, contextName, now);
  } catch (error) {
    expect(error).toBeInstanceOf(TalosconfigError);
    return error as TalosconfigError;
  }
  throw new Error('nothing was thrown');
}

describe('a good talosconfig', () => {
  it('gives endpoints and PEM texts, with the label of the key that OpenSSL knows', () => {
    const content = talosconfigText(access);
    expect(Buffer.from(/key: (\S+)/.exec(content)?.[1] ?? '', 'base64').toString()).toContain(
      'BEGIN ED25519 PRIVATE KEY',
    );
    expect(use(content)).toStrictEqual(access);
  });

  it.each(['P-256', 'Ed25519'] as const)('takes %s keys', (algorithm) => {
    const issued = issueCertificate(cluster.authority, { algorithm });
    expect(use(text({ crt: base64(issued.crt), key: base64(issued.key) })).key).toBe(issued.key);
  });

  it('takes base64 that is folded over lines', () => {
    const folded = base64(access.ca).match(/.{1,60}/g) ?? [];
    expect(use(text({ ca: `|\n      ${folded.join('\n      ')}` })).ca).toBe(access.ca);
  });

  it('takes several authorities, as there are during a rotation', () => {
    const both = access.ca + makeCertificateAuthority().crt;
    expect(use(text({ ca: base64(both) })).ca).toBe(both);
  });

  it('writes endpoints in one form, the old target field among them, and leaves nodes out', () => {
    const more = [
      '    endpoints: ["https://cp.lab.example", "[FD00::2]:50001", 10.5.0.2:50000, 10.5.0.2]',
      '    target: 10.5.0.3',
      '    nodes: [10.5.0.99]',
    ];
    expect(use(text({ more })).endpoints).toStrictEqual([
      'cp.lab.example:443',
      '[fd00::2]:50001',
      '10.5.0.2',
      '10.5.0.3',
    ]);
  });

  it('uses the context that is named, else the current one, else the only one', () => {
    const two = `${text()}\n  other:\n    endpoints: [10.5.0.9]\n    ca: ${base64(access.ca)}\n    crt: ${base64(access.crt)}\n    key: ${base64(access.key)}\n`;
    expect(use(two).endpoints).toStrictEqual(['10.5.0.2']);
    expect(use(two, 'other').endpoints).toStrictEqual(['10.5.0.9']);
    expect(use(text().replace('context: lab', '')).endpoints).toStrictEqual(['10.5.0.2']);
    expect(problem(two.replace('context: lab', ''))).toMatchObject({ field: 'context' });
  });

  it('is not harmed by another context that is broken', () => {
    const two = `${text()}\n  other:\n    auth: { siderov1: { identity: me } }\n`;
    expect(use(two).endpoints).toStrictEqual(['10.5.0.2']);
  });
});

describe('a talosconfig that cannot be used', () => {
  const stranger = fakeClusterCertificates().access();
  const cases: [what: string, content: string, field: string, says: string][] = [
    ['is empty', '', '', 'is not a talosconfig'],
    ['is a list', '- a', '', 'is not a talosconfig'],
    ['is no YAML', 'a: [', '', 'is not YAML (line 1'],
    ['has a key twice', 'context: a\ncontext: b', '', 'is not YAML (line 2'],
    ['has a key of a context twice', 'contexts:\n  a: {}\n  a: {}', '', 'is not YAML (line 3'],
    // Time that grew with the square of the length would be minutes here.
    [
      'has a great many keys',
      Array.from({ length: 20_000 }, (_, i) => `k${i}: x`).join('\n'),
      'contexts',
      'must be of type record',
    ],
    [
      'has a great many aliases',
      `contexts: {}\nmore: [&a x${', *a'.repeat(101)}]`,
      '',
      'unusable YAML aliases',
    ],
    ['has no contexts', 'context: lab', 'contexts', 'must be of type record'],
    ['has contexts that are a list', 'contexts: []', 'contexts', 'must be of type record'],
    ['has a context that is text', 'contexts: { lab: x }', 'contexts.lab', 'of type object'],
    [
      'has endpoints that are text',
      text({ more: ['    endpoints: 10.5.0.2'] }),
      'contexts.lab.endpoints',
      'must be of type array',
    ],
    [
      'has an endpoint with a path',
      text({ more: ['    endpoints: [a, "https://b/c"]'] }),
      'contexts.lab.endpoints.1',
      'host:port',
    ],
    [
      'has an endpoint in target that is none',
      text({ more: ['    target: "a b"'] }),
      'contexts.lab.target',
      'host:port',
    ],
    [
      'lacks its context',
      text().replace('context: lab', 'context: prod'),
      'contexts.prod',
      'the file has: lab',
    ],
    ['lacks the certificate', text({ crt: '""' }), 'contexts.lab.crt', 'is missing'],
    [
      'has plain PEM',
      text({ ca: `|\n      ${access.ca.replaceAll('\n', '\n      ')}` }),
      'contexts.lab.ca',
      'is not base64',
    ],
    [
      'has a certificate that is text',
      text({ crt: base64('hello') }),
      'contexts.lab.crt',
      'no usable PEM certificate',
    ],
    [
      'has a certificate with broken bytes',
      text({ crt: base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n') }),
      'contexts.lab.crt',
      'cannot be read',
    ],
    [
      'has a leaf for an authority',
      text({ ca: base64(access.crt) }),
      'contexts.lab.ca',
      'certificate authority',
    ],
    ['has no key', text({ key: base64(access.crt) }), 'contexts.lab.key', 'no private key'],
    [
      'has the key of another',
      text({ key: base64(stranger.key) }),
      'contexts.lab.key',
      'does not belong',
    ],
    [
      'speaks through Omni',
      text({ more: ['    auth: { siderov1: { identity: me@example.org } }'] }),
      'contexts.lab.auth.siderov1',
      'is not supported',
    ],
    [
      'speaks through a password',
      text({ more: ['    auth: { basic: { username: me, password: secret } }'] }),
      'contexts.lab.auth.basic',
      'is not supported',
    ],
  ];
  it.each(cases)('%s', (_, content, field, says) => {
    const error = problem(content);
    expect(error.field).toBe(field);
    expect(error.message).toContain('lab.yaml');
    expect(error.message).toContain(field);
    expect(error.message).toContain(says);
    expect(error.message).not.toContain('\n');
  });

  it('has a client certificate that expired, or is of the future', () => {
    const dates = { notBefore: new Date('2026-01-01'), notAfter: new Date('2026-02-01') };
    const issued = issueCertificate(cluster.authority, dates);
    const content = text({ crt: base64(issued.crt), key: base64(issued.key) });
    expect(problem(content, undefined, new Date('2026-02-02'))).toMatchObject({
      field: 'contexts.lab.crt',
      message: expect.stringContaining('expired at 2026-02-01T00:00:00.000Z'),
    });
    expect(problem(content, undefined, new Date('2025-12-31')).message).toContain(
      'not valid before 2026-01-01',
    );
    expect(use(content, undefined, new Date('2026-01-15')).crt).toBe(issued.crt);
  });

  it('is larger than any talosconfig', () => {
    const comment = `#${'x'.repeat(1_048_576)}\n`;
    expect(problem(comment + text()).message).toContain('larger than 1 MiB');
    expect(use(`#${'x'.repeat(1_000_000)}\n${text()}`).ca).toBe(access.ca);
  });

  it('never shows a piece of the key, however broken it is', () => {
    const secret = base64(access.key);
    const broken = [
      `${text()}\n  : [`,
      `contexts: ${secret}`,
      `contexts: { lab: "${secret}" }`,
      `contexts: { lab: { endpoints: ["${secret}"] } }`,
      `"${secret}`,
      `${secret}: {`,
      text({ key: `${secret.slice(0, -9)}` }),
      text({ key: `[${secret}]` }),
      text({ crt: secret, key: base64(access.crt) }),
      `contexts: { lab: { key: *${secret.slice(0, 40)} } }`,
    ];
    for (const content of broken) {
      const shown = JSON.stringify(problem(content), Object.getOwnPropertyNames(problem(content)));
      for (let at = 0; at + 12 <= secret.length; at += 4) {
        expect(shown).not.toContain(secret.slice(at, at + 12));
      }
    }
  });
});
