import { beforeAll, describe, expect, it } from 'vitest';
import { KubeconfigError, loadKubeconfig } from './kubeconfig.ts';
import { kubeconfigText } from './testing/loopback/scripted-api-server.ts';
import { type TestCertificate, testCertificate } from './testing/loopback/test-certificate.ts';

const server = 'https://10.5.0.100:6443';
const base64 = (text: string) => Buffer.from(text).toString('base64');

let own: TestCertificate;
beforeAll(async () => {
  own = await testCertificate('me');
});

const load = (text: string, trusted: boolean) =>
  loadKubeconfig({ text, source: 'Secret ichor-system/lab', trusted });

/** The sentence that loading ends with. */
function refusal(text: string, trusted: boolean): string {
  try {
    load(text, trusted);
  } catch (error) {
    if (error instanceof KubeconfigError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a kubeconfig from anywhere', () => {
  it('gives server and namespace of its current context', () => {
    expect(load(kubeconfigText({ server: `${server}/` }), false)).toMatchObject({
      server,
      namespace: 'ichor',
      warnings: [],
    });
  });

  it('may be YAML', () => {
    const text = [
      'apiVersion: v1',
      'clusters: [{ name: c, cluster: { server: "https://h:6443" } }]',
      'users: [{ name: u, user: { token: t } }]',
      'contexts: [{ name: x, context: { cluster: c, user: u } }]',
      'current-context: x',
    ].join('\n');
    expect(load(text, false)).toMatchObject({ server: 'https://h:6443', namespace: undefined });
  });

  it.each([
    ['is no YAML', '{', /is not valid YAML: .*; put a kubeconfig there\.$/],
    ['is empty', '', /is not valid YAML: .*empty; put a kubeconfig there/],
    ['is a list', '[]', /is not a kubeconfig: it has no list of clusters/],
    ['is something else', 'apiVersion: v1\nkind: Pod', /has no list of clusters/],
    ['has a cluster without a name', 'clusters: [{}]', /clusters\[0\]\.name is missing/],
    ['has no current context', 'clusters: []', /current-context is missing; set it/],
    [
      'names a context that does not exist',
      'clusters: []\ncurrent-context: x',
      /current-context names "x", which does not exist/,
    ],
    [
      'names a cluster that does not exist',
      'clusters: []\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x',
      /contexts\[0\]\.context\.cluster names "c", which does not exist/,
    ],
  ])('that %s is refused', (_name, text, sentence) => {
    for (const trusted of [true, false]) {
      const said = refusal(text, trusted);
      expect(said).toMatch(/^Secret ichor-system\/lab/);
      expect(said).toMatch(sentence);
    }
  });

  it.each([
    ['ftp://10.5.0.100', 'server is not an https URL; write https://host:port.'],
    ['http://10.5.0.100:6443', 'server is not an https URL; write https://host:port.'],
    ['10.5.0.100:6443', 'server is no URL; write https://host:port.'],
    ['https://me:pw@10.5.0.100', 'server holds more than scheme, host, port and path; '],
    ['https://10.5.0.100/?a=b', 'server holds more than scheme, host, port and path; '],
  ])('with the server %s is refused', (given, problem) => {
    for (const trusted of [true, false]) {
      expect(refusal(kubeconfigText({ server: given }), trusted)).toContain(
        `clusters[0].cluster.${problem}`,
      );
    }
  });

  it('must hold credentials, complete ones', () => {
    const certificate = { 'client-certificate-data': base64(own.certificate) };
    const key = { 'client-key-data': base64(own.key) };
    expect(refusal(kubeconfigText({ server }, {}), false)).toContain(
      'users[0].user holds no credentials; give a client certificate and key, or a token.',
    );
    expect(refusal(kubeconfigText({ server }, certificate), false)).toContain(
      'users[0].user.client-key-data is missing beside its counterpart',
    );
    expect(refusal(kubeconfigText({ server }, key), false)).toContain(
      'users[0].user.client-certificate-data is missing beside its counterpart',
    );
    expect(refusal(kubeconfigText({ server }, { ...certificate, ...key }), false)).toBe('accepted');
  });

  it.each(['certificate-authority-data', 'client-certificate-data', 'client-key-data'])(
    'with a %s that holds something else names the field',
    (field) => {
      const at = field.startsWith('client') ? 'users[0].user' : 'clusters[0].cluster';
      for (const broken of [
        base64('no PEM'),
        'no base64 !',
        base64('-----BEGIN CERTIFICATE-----\n'),
      ]) {
        const user = {
          'client-certificate-data': base64(own.certificate),
          'client-key-data': base64(own.key),
          ...(field.startsWith('client') ? { [field]: broken } : {}),
        };
        const cluster = field.startsWith('client') ? { server } : { server, [field]: broken };
        expect(refusal(kubeconfigText(cluster, user), false)).toMatch(
          new RegExp(`: ${at.replace(/[[\]]/g, '\\$&')}\\.${field} is not base64 of a PEM `),
        );
      }
    },
  );

  it.each([
    ['proxy-url', { 'proxy-url': 'http://proxy' }, {}],
    ['as-groups', {}, { as: 'me', 'as-groups': ['system:masters'] }],
  ])('that needs %s is refused instead of being half understood', (field, cluster, user) => {
    const text = kubeconfigText({ server, ...cluster }, { token: 't', ...user });
    expect(refusal(text, true)).toContain(`.${field} is not supported; remove it.`);
  });

  it('never has its credentials in an error', () => {
    const user = { token: 'top-secret', 'client-key-data': 'hidden' };
    expect(refusal(kubeconfigText({ server }, user), false)).not.toMatch(/top-secret|hidden/);
    const broken = 'clusters: []\nusers:\n- user: {token: top-secret\n  key: [hidden';
    expect(refusal(broken, false)).toMatch(/is not valid YAML/);
    expect(refusal(broken, false)).not.toMatch(/top-secret|hidden/);
  });
});

describe('a kubeconfig out of a Secret', () => {
  it.each([
    ['users[0].user.exec', {}, { exec: { command: '/bin/true' } }],
    ['users[0].user.auth-provider', {}, { 'auth-provider': { name: 'oidc' } }],
    ['users[0].user.tokenFile', {}, { tokenFile: '/etc/passwd' }],
    ['users[0].user.token-file', {}, { 'token-file': '/etc/passwd' }],
    ['users[0].user.client-certificate', {}, { 'client-certificate': '/a' }],
    ['users[0].user.client-key', {}, { 'client-key': '/a' }],
    ['users[0].user.as', {}, { as: 'system:admin' }],
    ['users[0].user.something-new', {}, { 'something-new': true }],
    ['clusters[0].cluster.certificate-authority', { 'certificate-authority': '/a' }, {}],
    ['clusters[0].cluster.insecure-skip-tls-verify', { 'insecure-skip-tls-verify': true }, {}],
  ])('may not hold %s', (field, cluster, user) => {
    const said = refusal(kubeconfigText({ server, ...cluster }, { token: 't', ...user }), false);
    expect(said).toMatch(
      new RegExp(`^Secret ichor-system/lab: ${field.replace(/[[\]]/g, '\\$&')} is not permitted`),
    );
  });

  it('may hold the same fields where they say nothing', () => {
    const cluster = { server, 'insecure-skip-tls-verify': false, 'certificate-authority': '' };
    const user = { token: 't', exec: null, 'client-certificate': '' };
    expect(refusal(kubeconfigText(cluster, user), false)).toBe('accepted');
  });

  it('may not hold them in an entry that is not the current one', () => {
    const document = JSON.parse(kubeconfigText({ server }));
    document.users.push({ name: 'other', user: { 'token-file': '/etc/passwd' } });
    expect(refusal(JSON.stringify(document), false)).toContain('users[1].user.token-file');
  });

  it('does not reach a plain server on loopback, as a file may', () => {
    const text = kubeconfigText({ server: 'http://127.0.0.1:8001' }, {});
    expect(refusal(text, false)).toContain('is not an https URL');
    expect(refusal(text, true)).toBe('accepted');
  });
});

describe('a kubeconfig file', () => {
  it('may switch the check of the server off, with a warning', () => {
    const text = kubeconfigText({ server, 'insecure-skip-tls-verify': true });
    expect(load(text, true).warnings).toEqual([
      expect.stringMatching(/clusters\[0\]\.cluster\.insecure-skip-tls-verify is set, so whoever/),
    ]);
    expect(load(kubeconfigText({ server }), true).warnings).toEqual([]);
  });

  it.each([
    ['certificate-authority', 'clusters[0].cluster'],
    ['tokenFile', 'users[0].user'],
  ])('that names a %s that cannot be read names field and file', (field, at) => {
    const inUser = at.startsWith('users');
    const text = kubeconfigText(
      { server, ...(inUser ? {} : { [field]: '/does/not/exist' }) },
      inUser ? { [field]: '/does/not/exist' } : { token: 't' },
    );
    expect(refusal(text, true)).toContain(
      `${at}.${field}: the file /does/not/exist cannot be read; correct the path.`,
    );
  });
});
