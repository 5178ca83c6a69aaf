import { readdirSync, readFileSync } from 'node:fs';
import {
  type ConfigSpec,
  encodeYaml,
  type LiveConfig,
  mergePatch,
  renderConfig,
  shapeOf,
} from '@ichor/render';
import { beforeAll, describe, expect, it } from 'vitest';
import { type TalosConfigLibrary, type TalosConfigPart, talosConfigLibrary } from '../src/index.ts';

// What is rendered, judged by Talos's own code: every golden file patches and validates, and merging a patch here
// gives the configuration that Talos's patcher gives.

type MachineType = 'controlplane' | 'worker';

/** A version of Talos with the contracts that its machines may have been generated for. */
type Version = {
  readonly part: TalosConfigPart;
  readonly contracts: readonly string[];
  readonly kubernetes: string;
};

const versions: readonly Version[] = [
  {
    part: 'talos-config-1.14',
    contracts: ['v1.11', 'v1.12', 'v1.13', 'v1.14', 'v1.15'],
    kubernetes: '1.34.2',
  },
  { part: 'talos-config-1.13', contracts: ['v1.11', 'v1.12', 'v1.13'], kubernetes: '1.34.2' },
  { part: 'talos-config-1.12', contracts: ['v1.11', 'v1.12'], kubernetes: '1.34.2' },
  { part: 'talos-config-1.11', contracts: ['v1.11'], kubernetes: '1.34.2' },
];
const machineTypes: readonly MachineType[] = ['controlplane', 'worker'];

const golden = new URL('../../render/testdata/', import.meta.url);
const goldenOf = (contract: string, machineType: MachineType) =>
  readdirSync(new URL(`${contract}/`, golden))
    .filter((name) => name.replace('.full', '').endsWith(`-${machineType}.yaml`))
    .map((name) => ({
      name: `${contract}/${name}`,
      text: readFileSync(new URL(`${contract}/${name}`, golden), 'utf8'),
    }));

/** What administrators add to what Talos generates, by the shape of the configuration. */
const additions: Readonly<Record<'legacy' | 'document', readonly string[]>> = {
  legacy: [
    'machine: {kubelet: {extraArgs: {max-pods: "50"}, extraConfig: {serializeImagePulls: false}}}',
    'machine: {kubelet: {nodeIP: {validSubnets: [10.5.0.0/24]}, extraConfig: {serverTLSBootstrap: false}}}',
    'machine: {sysctls: {vm.max_map_count: "262144"}, files: [{content: "a: b\\n", path: /var/a, op: create, permissions: 0644}]}',
    'cluster: {apiServer: {extraArgs: {v: "2", audit-log-maxage: "30"}, certSANs: [lab.example]}}',
  ],
  document: [
    '{apiVersion: v1alpha1, kind: KubeletConfig, extraArgs: {max-pods: "50"}, config: {serializeImagePulls: false}}',
    '{apiVersion: v1alpha1, kind: KubeletConfig, config: {serverTLSBootstrap: false, evictionHard: {memory.available: 100Mi}}}',
    'machine: {files: [{content: "a: b\\n", path: /var/a, op: create, permissions: 0644}]}',
    '{apiVersion: v1alpha1, kind: KubeAPIServerConfig, extraArgs: {v: ["2", "3"], audit-log-maxage: "30"}}',
  ],
};

const verified: Omit<ConfigSpec, 'machineType'> = {
  kubeletServingCertificates: { enabled: true, verifyFromAPIServer: true },
  verified: true,
};
const states: Readonly<Record<string, Omit<ConfigSpec, 'machineType'>>> = {
  off: {},
  enabled: { kubeletServingCertificates: { enabled: true } },
  unlatched: { ...verified, verified: false },
  verified,
  'removing verification': { kubeletServingCertificates: { enabled: true }, removing: true },
  removing: { removing: true },
};

const liveOf = (text: string): LiveConfig => {
  const read = shapeOf(text);
  if (read.kind === 'refused') throw new Error(read.problems[0]?.sentence);
  return read.live;
};
const rendered = (spec: ConfigSpec, contract: string) => {
  const result = renderConfig(spec, contract);
  if (result.kind === 'refused') throw new Error(result.problems[0].sentence);
  return result.documents;
};
const mergedText = (config: string, documents: Parameters<typeof mergePatch>[1]): string => {
  const result = mergePatch(config, documents);
  if (result.kind === 'refused') throw new Error(result.problems[0].sentence);
  return result.text;
};

describe.each(versions)('$part', ({ part, contracts, kubernetes }) => {
  let talos: TalosConfigLibrary;
  /** Configurations as generated, by contract and type of machine. */
  const bases = new Map<string, string>();
  const base = (contract: string, machineType: MachineType): string => {
    const text = bases.get(`${contract} ${machineType}`);
    if (text === undefined) throw new Error(`nothing was generated for ${contract} ${machineType}`);
    return text;
  };
  const patched = async (cases: Parameters<TalosConfigLibrary['patch']>[0]) => {
    const answers = await talos.patch(cases);
    expect(answers.map(({ error }) => error).filter((error) => error !== '')).toEqual([]);
    return answers.map(({ config }) => config);
  };
  const expectValid = async (configs: readonly string[]) => {
    const answers = await talos.validate(configs.map((config) => ({ config })));
    expect(answers.map(({ error }) => error)).toEqual(configs.map(() => ''));
  };

  beforeAll(async () => {
    talos = await talosConfigLibrary(part);
    const cases = contracts.flatMap((contract) =>
      machineTypes.map((machineType) => ({ contract, machineType, kubernetesVersion: kubernetes })),
    );
    const answers = await talos.generate(cases);
    for (const [index, { contract, machineType }] of cases.entries()) {
      expect(answers[index]?.error).toBe('');
      bases.set(`${contract} ${machineType}`, answers[index]?.config ?? '');
    }
  });

  it('refuses a patch in a shape that the configuration does not have, so its word means something', async () => {
    const [contract = ''] = contracts;
    const patch = '{apiVersion: v1alpha1, kind: KubeletConfig, config: {serverTLSBootstrap: true}}';
    const [answer] = await talos.patch([{ config: base(contract, 'worker'), patches: [patch] }]);
    const invalid = answer?.error === '' ? await talos.validate([answer]) : [];
    expect(`${answer?.error}${invalid[0]?.error}`).toMatch(/not registered|image cannot be empty/);
  });

  describe.each(contracts)('with a configuration of %s', (contract) => {
    it.each(machineTypes)('takes every golden file of a %s', async (machineType) => {
      const config = base(contract, machineType);
      const files = goldenOf(contract, machineType);
      expect(files).toHaveLength(12);
      const patches = files.filter(({ text }) => text !== '');
      // A flag is taken away where it was given before.
      const given = goldenOf(contract, machineType).find(({ name }) => name.includes('/verified-'));
      const results = await patched(
        patches.map(({ name, text }) => ({
          config,
          patches: name.includes('/removing') && given !== undefined ? [given.text, text] : [text],
        })),
      );
      await expectValid(results);
      for (const [index, { name }] of patches.entries()) {
        const live = liveOf(results[index] ?? '');
        const asks = live.kubelet.config['serverTLSBootstrap'] ?? false;
        expect([name, asks]).toEqual([name, !/\/(off|removing)-(?!verification)/.test(name)]);
      }
    });

    it.each(machineTypes)(
      'gets from a merge here what it makes of the patch itself: %s',
      async (machineType) => {
        const plain = base(contract, machineType);
        const added = additions[liveOf(plain).kubelet.shape === 'document' ? 'document' : 'legacy'];
        const usable = added.filter(
          (patch) => machineType === 'controlplane' || !/apiServer|APIServer/.test(patch),
        );
        const variants = [
          plain,
          ...(await patched(usable.map((patch) => ({ config: plain, patches: [patch] })))),
          ...(await patched([{ config: plain, patches: usable }])),
        ];
        const configs = [
          ...variants,
          // As it is after the option was on.
          ...variants.map((config) =>
            mergedText(
              config,
              rendered({ ...verified, machineType, live: liveOf(config) }, contract),
            ),
          ),
        ];
        const steps = configs.flatMap((config) =>
          Object.entries(states).map(([state, spec]) => {
            const documents = rendered({ ...spec, machineType, live: liveOf(config) }, contract);
            return { state, config, documents, merged: mergedText(config, documents) };
          }),
        );
        for (const { state, config, merged, documents } of steps) {
          if (state === 'off') expect([documents, merged]).toEqual([[], config]);
        }
        const changing = steps.filter(({ documents }) => documents.length > 0);
        expect(changing.length).toBeGreaterThan(variants.length * 6);
        const theirs = await patched(
          changing.map(({ config, documents }) => ({ config, patches: [encodeYaml(documents)] })),
        );
        const ours = await patched(changing.map(({ merged }) => ({ config: merged, patches: [] })));
        expect(ours).toEqual(theirs);
        await expectValid(changing.map(({ merged }) => merged));
      },
    );
  });
});

describe('what Talos 1.14 generates', () => {
  it('is the whole document that is rendered with the option off', async () => {
    const talos = await talosConfigLibrary('talos-config-1.14');
    const [answer] = await talos.generate([
      { contract: 'v1.14', machineType: 'worker', kubernetesVersion: '1.34.2' },
    ]);
    const generated = (answer?.config ?? '')
      .split('---\n')
      .find((text) => text.includes('kind: KubeletConfig'));
    expect(generated).toBe(readFileSync(new URL('v1.14/off-worker.full.yaml', golden), 'utf8'));
  });
});
