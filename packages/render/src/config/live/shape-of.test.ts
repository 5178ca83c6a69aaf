import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { documentConfig, legacyConfig } from '../../testing/machine-configs.ts';
import { shapeOf } from './shape-of.ts';

const read = (text: string) => {
  const result = shapeOf(text);
  return result.kind === 'read' ? result.live : result.problems.map(({ sentence }) => sentence);
};
const shapes = (text: string) => {
  const live = read(text);
  return 'kubelet' in live ? [live.kubelet.shape, live.apiServer.shape] : live;
};

describe('shapeOf', () => {
  it('tells the shape of each component', () => {
    expect(shapes(legacyConfig())).toEqual(['legacy', 'legacy']);
    expect(shapes(documentConfig())).toEqual(['document', 'document']);
    expect(shapes(legacyConfig({ type: 'worker' }))).toEqual(['legacy', 'absent']);
    expect(shapes('machine: {type: worker}\ncluster: {}\n')).toEqual(['absent', 'absent']);
  });

  it('takes an empty mapping for the old shape and a null for none, as Talos does', () => {
    expect(shapes('machine:\n  kubelet: {}\ncluster:\n  apiServer: {}\n')).toEqual([
      'legacy',
      'legacy',
    ]);
    expect(shapes('machine:\n  kubelet:\ncluster:\n  apiServer: ~\n')).toEqual([
      'absent',
      'absent',
    ]);
  });

  it.each([
    ['controlplane', 'controlplane'],
    ['init', 'controlplane'],
    ['worker', 'worker'],
  ])('takes the type %s for a %s', (type, machineType) => {
    expect(read(legacyConfig({ type }))).toMatchObject({ machineType });
  });

  it('reads fields and flags, single and repeated', () => {
    const extraArgs = { v: 4, 'node-ip': ['10.5.0.2', 'fd00::2'], empty: null };
    expect(read(documentConfig({ kubelet: { config: { maxPods: 5 }, extraArgs } }))).toMatchObject({
      kubelet: {
        path: 'KubeletConfig',
        configPath: 'KubeletConfig.config',
        config: { maxPods: 5n },
        flags: new Map([
          ['v', ['4']],
          ['node-ip', ['10.5.0.2', 'fd00::2']],
          ['empty', ['']],
        ]),
      },
    });
    expect(read(legacyConfig({ kubelet: { extraArgs: { v: '4' } } }))).toMatchObject({
      kubelet: {
        path: '.machine.kubelet',
        configPath: '.machine.kubelet.extraConfig',
        flags: new Map([['v', ['4']]]),
      },
    });
  });

  it('follows aliases and merge keys', () => {
    const text = 'a: &a {kubelet: {}}\nmachine: {<<: *a, type: worker}\ncluster: {}\n';
    expect(shapes(text)).toEqual(['legacy', 'absent']);
  });

  it.each<[string, string, string]>([
    ['no YAML', 'machine: [', 'is not YAML ('],
    [
      'a key twice',
      'machine: {}\nmachine: {}\ncluster: {}\n',
      'is not YAML (Map keys must be unique',
    ],
    ['an alias without anchor', 'machine: *nobody\ncluster: {}\n', 'is not YAML ('],
    ['nothing', '', 'has no v1alpha1 document'],
    ['blanks', '---\n', 'has no v1alpha1 document'],
    ['a text', 'hello', 'holds a document that is no mapping (number 1)'],
    ['a list', '- a', 'holds a document that is no mapping (number 1)'],
    [
      'documents alone',
      'apiVersion: v1alpha1\nkind: KubeletConfig\nimage: a:v1.37.0\n',
      'has no v1alpha1 document',
    ],
    ['two v1alpha1 documents', 'machine: {}\n---\ncluster: {}\n', 'holds 2 v1alpha1 documents'],
    [
      'a document twice',
      `${documentConfig()}---\napiVersion: v1alpha1\nkind: KubeletConfig\n`,
      'holds 2 KubeletConfig documents',
    ],
    [
      'another version of a document',
      'machine: {}\n---\napiVersion: v2\nkind: KubeletConfig\n',
      'KubeletConfig.apiVersion must be v1alpha1',
    ],
    [
      'the resource around it',
      'node: 10.5.0.2\nmetadata: {}\nspec: |\n  machine: {}\n',
      'is wrapped in the resource',
    ],
    ['an unknown type', 'machine: {type: boss}\ncluster: {}\n', '.machine.type is "boss"'],
    ['a machine that is none', 'machine: 5\ncluster: {}\n', '.machine is 5; it must be a mapping.'],
    [
      'flags that are none',
      legacyConfig({ kubelet: { extraArgs: ['a'] } }),
      '.machine.kubelet.extraArgs is ["a"]',
    ],
    [
      'a flag that is none',
      legacyConfig({ kubelet: { extraArgs: { a: { b: 1 } } } }),
      '.machine.kubelet.extraArgs.a must be',
    ],
    [
      'fields that are none',
      documentConfig({ kubelet: { config: 'x' } }),
      'KubeletConfig.config is "x"',
    ],
    [
      'both shapes of the kubelet',
      `${documentConfig().replace('type: controlplane', 'kubelet: {}')}`,
      '.machine.kubelet and the document KubeletConfig are both present; keep one of the two.',
    ],
    [
      'both shapes of the API server',
      `${documentConfig().replace('etcd: {}', 'apiServer: {}')}`,
      '.cluster.apiServer and the document KubeAPIServerConfig are both present',
    ],
  ])('refuses %s', (_name, text, sentence) => {
    expect(read(text)).toEqual([expect.stringContaining(sentence)]);
  });

  it('is not filled by nested aliases', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `a${i}: &a${i} [${Array.from({ length: 10 }, () => (i === 0 ? 'x' : `*a${i - 1}`)).join(',')}]`,
    );
    expect(read(`${levels.join('\n')}\nmachine: {}\ncluster: {}\n`)).toEqual([
      expect.stringContaining('is not YAML ('),
    ]);
  });

  it('gives an answer to any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'a:-{}[],&*!|>#%@"\'? \n\t~<0') }),
        (text) => {
          expect(['read', 'refused']).toContain(shapeOf(text).kind);
          expect(['read', 'refused']).toContain(shapeOf(`machine:\n  ${text}\ncluster: {}\n`).kind);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
