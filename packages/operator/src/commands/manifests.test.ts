import { deployFiles, installManifest } from '@ichor/render';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ichor } from '../testing/command-line.ts';

const image = 'ichor.example/ichor:test';
const documents = (text: string): unknown[] => {
  const parsed = parseAllDocuments(text);
  if (!Array.isArray(parsed)) return [];
  expect(parsed.flatMap(({ errors }) => errors)).toEqual([]);
  return parsed.map((document) => document.toJS());
};
const plain = (objects: unknown): unknown => JSON.parse(JSON.stringify(objects));

describe('ichor manifests', () => {
  it('prints as YAML what installs the operator', async () => {
    const { code, out, err } = await ichor(['manifests', '--image', image]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(documents(out)).toEqual(plain(installManifest({ image })));
  });

  it('prints the same as one JSON list, which kubectl takes, too', async () => {
    const { out } = await ichor(['manifests', '--image', image, '-o', 'json']);
    expect(JSON.parse(out)).toEqual({
      apiVersion: 'v1',
      kind: 'List',
      items: plain(installManifest({ image })),
    });
  });

  it('needs no image where there is no Deployment', async () => {
    const { code, out } = await ichor(['manifests', '--only', 'crds, rbac']);
    expect(code).toBe(0);
    expect(documents(out)).toEqual(plain(installManifest({ only: ['crds', 'rbac'] })));
    expect(out).not.toContain('kind: Deployment');
  });

  it('prints the definitions that are committed', async () => {
    const { out } = await ichor(['manifests', '--only', 'crds']);
    const [, committed = ''] =
      Object.entries(deployFiles()).find(([name]) => name.includes('crds')) ?? [];
    expect(documents(out)).toEqual(documents(committed));
    expect(documents(out)).toHaveLength(2);
  });

  it('puts everything into the namespace that is given', async () => {
    const { out } = await ichor(['manifests', '--image', image, '--namespace', 'elsewhere']);
    expect(documents(out)).toEqual(plain(installManifest({ image, namespace: 'elsewhere' })));
    expect(out).not.toContain('ichor-system');
  });

  it.each<[readonly string[], string]>([
    [[], '--image is missing'],
    [['--only', 'rbac,deployment'], '--image is missing'],
    [['--image', ''], '--image is ""'],
    [['--image', 'two words'], '--image is "two words"'],
    [['--only', 'crds', '--image', 'two words'], '--image is "two words"'],
    [
      ['--image', image, '--only', 'crd'],
      '--only is "crd"; it must be crds or rbac or deployment.',
    ],
    [['--image', image, '--only', ''], '--only is ""'],
    [['--image', image, '--namespace', 'Ichor'], '--namespace is "Ichor"; it must be a DNS label'],
    [['--image', image, '--namespace', ''], '--namespace is ""'],
    [['--image', image, '--namespace', 'a'.repeat(64)], 'at most 63 characters'],
    [['--image', image, '-o', 'table'], '--output is "table"; it must be yaml or json.'],
  ])('refuses %j', async (args, sentence) => {
    const { code, out, err } = await ichor(['manifests', ...args]);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(/^ichor manifests: .*\.\n$/);
    expect(err).toContain(sentence);
  });
});
