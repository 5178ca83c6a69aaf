import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ichor } from '../testing/command-line.ts';

const directory = mkdtempSync(join(tmpdir(), 'ichor-run-'));
afterAll(() => rmSync(directory, { recursive: true }));

function kubeconfig(namespace?: string): string {
  const path = join(directory, `${namespace ?? 'none'}.kubeconfig`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    // Nothing listens on port 1: the operator starts all the same and tries again and again.
    clusters: [{ name: 'lab', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'me', user: { token: 'secret-token' } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'me', namespace } }],
    'current-context': 'lab',
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const linesOf = (out: string): readonly Record<string, unknown>[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('ichor run', () => {
  it('logs JSON, says where it looks, and ends with 0 when it is asked to', async () => {
    const { code, out, err } = await ichor(['run', '--kubeconfig', kubeconfig()]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const starting = linesOf(out).find(({ message }) => message === 'starting');
    expect(starting).toMatchObject({
      level: 'info',
      server: 'https://127.0.0.1:1',
      namespace: 'ichor-system',
      talosconfig: '/var/run/secrets/talos.dev/config',
    });
    expect(linesOf(out).at(-1)).toMatchObject({ message: 'stopping' });
    expect(out).not.toContain('secret-token');
  });

  it.each<[string, readonly string[], Readonly<Record<string, string>>, object]>([
    [
      'the namespace of the context',
      ['--kubeconfig', kubeconfig('of-context')],
      {},
      { namespace: 'of-context' },
    ],
    [
      'the namespace of the flag before it',
      ['--kubeconfig', kubeconfig('of-context'), '--namespace', 'of-flag'],
      {},
      { namespace: 'of-flag' },
    ],
    [
      '$TALOSCONFIG',
      ['--kubeconfig', kubeconfig()],
      { TALOSCONFIG: '/from/environment' },
      { talosconfig: '/from/environment' },
    ],
    [
      'the talosconfig of the flag before it',
      ['--kubeconfig', kubeconfig(), '--talosconfig', '/from/flag'],
      { TALOSCONFIG: '/from/environment' },
      { talosconfig: '/from/flag' },
    ],
  ])('takes %s', async (_, args, env, expected) => {
    const { out } = await ichor(['run', ...args], { env });
    expect(linesOf(out).find(({ message }) => message === 'starting')).toMatchObject(expected);
  });

  const noKubeconfig = join(directory, 'text');
  writeFileSync(noKubeconfig, 'text');
  it.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
    [
      'to run outside of a pod without a kubeconfig',
      [],
      {},
      'The environment variable KUBERNETES_SERVICE_HOST is not set; run in a pod with a ServiceAccount, or give a kubeconfig.',
    ],
    [
      'a pod without a token',
      [],
      { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' },
      '/var/run/secrets/kubernetes.io/serviceaccount/token cannot be read (ENOENT)',
    ],
    [
      'a kubeconfig that is not there',
      ['--kubeconfig', '/nonexistent'],
      {},
      'The kubeconfig /nonexistent cannot be read (ENOENT); give the path of a kubeconfig.',
    ],
    [
      'a file that is no kubeconfig',
      ['--kubeconfig', noKubeconfig],
      {},
      `${noKubeconfig} is not a`,
    ],
    [
      'a namespace that is none',
      ['--kubeconfig', kubeconfig(), '--namespace', 'a/b'],
      {},
      '--namespace is "a/b"; it must be a DNS label of at most 63 characters.',
    ],
  ])('refuses %s', async (_, args, env, sentence) => {
    const { code, out, err } = await ichor(['run', ...args], { env });
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(/^ichor run: .*\.\n$/);
    expect(err).toContain(sentence);
  });
});
