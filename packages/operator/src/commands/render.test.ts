import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { ichor } from '../testing/command-line.ts';

let folder: string;
let count = 0;
const file = (text: string): string => {
  count += 1;
  const path = join(folder, `${count}.yaml`);
  writeFileSync(path, text);
  return path;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ichor-render-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cluster = (certificates: string, rest = ''): string =>
  file(
    `apiVersion: ichor.dev/v1alpha1\nkind: TalosCluster\nmetadata: {name: lab, namespace: ichor-system}\nspec:\n  talos: {contract: v1.14}\n  kubernetes: {version: v1.34.2}\n  security: {kubeletServingCertificates: ${certificates}}\n${rest}`,
  );
const on = () => cluster('{enabled: true, verifyFromAPIServer: true}');
const golden = (name: string): string =>
  readFileSync(new URL(`../../../render/testdata/${name}`, import.meta.url), 'utf8');

const liveWorker = `version: v1alpha1
machine:
  type: worker
  kubelet:
    # ours
    image: example/kubelet:v1.34.2
cluster: {}
`;

describe('ichor render', () => {
  it('prints the patch of the state and the machine', async () => {
    const { code, out, err } = await ichor(['render', '-f', on(), '--machine-type', 'worker']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(golden('v1.14/unlatched-worker.yaml'));
  });

  it('prints whole documents with the images of the version', async () => {
    const args = ['render', '-f', on(), '--full', '--verified', '--machine-type', 'controlplane'];
    expect((await ichor(args)).out).toBe(golden('v1.14/verified-controlplane.full.yaml'));
  });

  it('takes another contract than that of the file', async () => {
    const { out } = await ichor(['render', '-f', on(), '--contract', '1.13.9']);
    expect(out).toBe(golden('v1.13/unlatched-worker.yaml'));
  });

  it('takes the latch from the status, as from the flag', async () => {
    const condition = (status: string) =>
      `status: {conditions: [{type: KubeletServingVerified, status: '${status}', reason: R, message: m, lastTransitionTime: '2026-12-01T00:00:00Z'}]}\n`;
    const args = (path: string) => ['render', '-f', path, '--machine-type', 'controlplane'];
    const option = '{enabled: true, verifyFromAPIServer: true}';
    const latched = await ichor(args(cluster(option, condition('True'))));
    expect(latched.out).toBe(golden('v1.14/verified-controlplane.yaml'));
    const open = await ichor(args(cluster(option, condition('False'))));
    expect(open.out).toBe(golden('v1.14/unlatched-controlplane.yaml'));
    expect((await ichor([...args(on()), '--verified'])).out).toBe(latched.out);
  });

  it('prints no patch with the option off, and says so', async () => {
    expect(await ichor(['render', '-f', cluster('{enabled: false}')])).toEqual({
      code: 0,
      out: '',
      err: 'ichor render: kubeletServingCertificates is off, so there is no patch.\n',
    });
  });

  it('prints what takes both settings back', async () => {
    const args = ['render', '-f', cluster('{}'), '--removing', '--machine-type', 'controlplane'];
    expect((await ichor([...args, '--verified'])).out).toBe(
      golden('v1.14/removing-controlplane.yaml'),
    );
    const unknown = await ichor(args);
    expect(unknown.out).toBe(golden('v1.14/removing-worker.yaml'));
    expect(unknown.err).toContain('is left alone, because it is not known');
  });

  it('reads the cluster from standard input', async () => {
    const stdin = readFileSync(on(), 'utf8');
    const { out } = await ichor(['render', '-f', '-'], { stdin });
    expect(out).toBe(golden('v1.14/unlatched-worker.yaml'));
  });

  it('needs the type of machine only where it makes a difference', async () => {
    expect((await ichor(['render', '-f', on()])).code).toBe(0);
    const { code, err } = await ichor(['render', '-f', on(), '--verified']);
    expect(code).toBe(64);
    expect(err).toContain('--machine-type is missing');
  });

  it('prints what a change costs as JSON', async () => {
    const { out } = await ichor(['render', '-f', on(), '-o', 'json']);
    expect(JSON.parse(out)).toEqual({
      state: 'unlatched',
      documents: [parseDocument(golden('v1.14/unlatched-worker.yaml')).toJS()],
      changes: [
        {
          document: 'KubeletConfig',
          path: 'KubeletConfig.config.serverTLSBootstrap',
          effect: 'kubeletRestart',
        },
      ],
      warnings: [],
    });
  });

  it('says on standard error what to know', async () => {
    const { code, err } = await ichor(['render', '-f', on(), '--contract', 'v1.99']);
    expect(code).toBe(0);
    expect(err).toContain('it is treated as v1.15.');
  });
});

describe('ichor render --diff', () => {
  it('prints the difference in the shape that the machine has, and exits with 1', async () => {
    const live = file(liveWorker);
    const { code, out, err } = await ichor(['render', '-f', on(), '--diff', live]);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toBe(
      `--- ${live}\n+++ ${live} (patched)\n@@ -2,6 +2,8 @@\n machine:\n   type: worker\n   kubelet:\n+    extraConfig:\n+      serverTLSBootstrap: true\n     # ours\n     image: example/kubelet:v1.34.2\n cluster: {}\n`,
    );
  });

  it('finds no difference in what was merged, and exits with 0', async () => {
    const first = await ichor(['render', '-f', on(), '--diff', file(liveWorker), '-o', 'json']);
    expect(first.code).toBe(1);
    const merged = file(JSON.parse(first.out).merged);
    expect(await ichor(['render', '-f', on(), '--diff', merged])).toEqual({
      code: 0,
      out: '',
      err: '',
    });
  });

  it('finds none with the option off', async () => {
    const args = ['render', '-f', cluster('{}'), '--diff', file(liveWorker)];
    expect(await ichor(args)).toEqual({ code: 0, out: '', err: '' });
  });

  it('refuses a configuration that cannot be used, with its path', async () => {
    const live = file(liveWorker.replace('# ours', 'extraArgs: {node-ip: 10.5.0.9}'));
    const { code, out, err } = await ichor(['render', '-f', on(), '--diff', live]);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain('.machine.kubelet.extraArgs.node-ip makes the kubelet ask for names');
    const broken = file('machine: [');
    expect((await ichor(['render', '-f', on(), '--diff', broken])).err).toContain(
      `${broken}: machine configuration is not YAML (`,
    );
  });
});

describe('ichor render refuses', () => {
  it.each<[string, () => string[], string]>([
    ['no file', () => [], '-f is missing'],
    ['both outputs', () => ['-f', on(), '--patch', '--full'], '--patch and --full exclude'],
    ['whole documents compared', () => ['-f', on(), '--full', '--diff', 'x'], 'leave --full out'],
    ['standard input twice', () => ['-f', '-', '--diff', '-'], 'only one of -f and --diff'],
    [
      'an unknown type',
      () => ['-f', on(), '--machine-type', 'init'],
      '--machine-type is "init"; it must be controlplane or worker.',
    ],
    [
      'an unknown contract',
      () => ['-f', on(), '--contract', 'new'],
      'spec.talos.contract is "new"',
    ],
    [
      'another object',
      () => ['-f', file('kind: Pod\nspec: {}\n')],
      'holds a Pod; give one TalosCluster.',
    ],
    ['a text', () => ['-f', file('hello')], 'holds no object'],
    ['no spec', () => ['-f', file('kind: TalosCluster\n')], 'has no spec'],
    ['a wrong field', () => ['-f', cluster('{enabled: maybe}')], 'enabled must be true or false'],
    ['removing what is wanted', () => ['-f', on(), '--removing'], 'there is nothing to take back'],
    ['a file that is not there', () => ['-f', join(folder, 'none')], 'does not exist'],
  ])('%s', async (_name, args, sentence) => {
    const { code, out, err } = await ichor(['render', ...args()]);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(/^ichor render: .*\.\n$/);
    expect(err).toContain(sentence);
  });
});
