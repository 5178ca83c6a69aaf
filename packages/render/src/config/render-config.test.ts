import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeYaml } from '../encode.ts';
import { goldenCases } from '../testing/golden-files.ts';
import { documentConfig, legacyConfig } from '../testing/machine-configs.ts';
import type { ConfigSpec } from './config-spec.ts';
import { acceptedAuthoritiesFile } from './documents/api-server-settings.ts';
import type { LiveConfig } from './live/live-config.ts';
import { shapeOf } from './live/shape-of.ts';
import { renderConfig } from './render-config.ts';

const live = (text: string): LiveConfig => {
  const read = shapeOf(text);
  if (read.kind === 'refused') throw new Error(read.problems.map((one) => one.sentence).join(' '));
  return read.live;
};
const enabled = {
  machineType: 'controlplane',
  kubeletServingCertificates: { enabled: true },
} as const;
const verified = {
  machineType: 'controlplane',
  kubeletServingCertificates: { enabled: true, verifyFromAPIServer: true },
  verified: true,
} as const;
const removing = { machineType: 'controlplane', removing: true } as const;

const documentsOf = (spec: ConfigSpec, contract = 'v1.14') => {
  const rendered = renderConfig(spec, contract);
  return rendered.kind === 'rendered' ? rendered.documents : rendered;
};
const warningsOf = (spec: ConfigSpec, contract?: string) => {
  const rendered = renderConfig(spec, contract);
  return rendered.kind === 'rendered'
    ? rendered.warnings.map(({ sentence }) => sentence)
    : rendered;
};
const problemPaths = (spec: ConfigSpec, contract = 'v1.14') => {
  const rendered = renderConfig(spec, contract);
  return rendered.kind === 'refused' ? rendered.problems.map(({ path }) => path) : rendered;
};

const asking = {
  apiVersion: 'v1alpha1',
  kind: 'KubeletConfig',
  config: { serverTLSBootstrap: true },
};
const legacyAsking = {
  version: 'v1alpha1',
  machine: { kubelet: { extraConfig: { serverTLSBootstrap: true } } },
};
const verifying = { 'kubelet-certificate-authority': acceptedAuthoritiesFile };

describe('renderConfig, with the option off', () => {
  it.each(['v1.11', 'v1.14'])('has no patch for %s, whatever the machine runs with', (contract) => {
    const odd = live(legacyConfig({ kubelet: { extraArgs: { 'node-ip': '10.5.0.2' } } }));
    for (const spec of [{}, { live: odd }, { kubeletServingCertificates: { enabled: false } }]) {
      expect(documentsOf({ machineType: 'controlplane', ...spec }, contract)).toEqual([]);
    }
  });

  it.each(['v1.11', 'v1.14'])('spells whole documents of %s as if it did not exist', (contract) => {
    const base = {
      machineType: 'controlplane',
      output: 'full',
      kubernetesVersion: '1.37.2',
    } as const;
    const off = {
      ...base,
      kubeletServingCertificates: { enabled: false, verifyFromAPIServer: false },
    };
    const text = (spec: ConfigSpec) => JSON.stringify(documentsOf(spec, contract));
    expect(text(off)).toBe(text(base));
    expect(text(off)).not.toContain('serverTLSBootstrap');
    expect(text({ ...base, ...enabled })).toContain('serverTLSBootstrap');
  });
});

describe('the shape', () => {
  it('is that of the contract where nothing else is known', () => {
    expect(documentsOf(enabled, 'v1.13')).toEqual([legacyAsking]);
    expect(documentsOf(enabled, 'v1.14')).toEqual([asking]);
  });

  it('is that of the live configuration, against the contract', () => {
    expect(documentsOf({ ...enabled, live: live(legacyConfig()) }, 'v1.14')).toEqual([
      legacyAsking,
    ]);
    const newer = { ...enabled, live: live(documentConfig()) };
    expect(documentsOf(newer, 'v1.13')).toEqual([asking]);
    expect(warningsOf(newer, 'v1.13')).toEqual([expect.stringContaining('its shape is kept')]);
  });

  it('is judged for each component by itself', () => {
    const mixed = encodeYaml([
      { version: 'v1alpha1', machine: { type: 'controlplane' }, cluster: { apiServer: {} } },
      { ...asking, image: 'example/kubelet:v1.37.0' },
    ]);
    expect(documentsOf({ ...verified, live: live(mixed) })).toEqual([
      { version: 'v1alpha1', cluster: { apiServer: { extraArgs: verifying } } },
      asking,
    ]);
  });

  it('is the legacy one where the live configuration has no kubelet at all', () => {
    const bare = live('machine:\n  type: worker\ncluster: {}\n');
    expect(documentsOf({ ...enabled, machineType: 'worker', live: bare })).toEqual([legacyAsking]);
  });
});

describe('the flag of the API server', () => {
  it('is rendered on control planes of a verified cluster only', () => {
    const flag = { apiVersion: 'v1alpha1', kind: 'KubeAPIServerConfig', extraArgs: verifying };
    expect(documentsOf(verified)).toEqual([asking, flag]);
    expect(documentsOf({ ...verified, verified: false })).toEqual([asking]);
    expect(documentsOf({ ...verified, machineType: 'worker' })).toEqual([asking]);
    // The latch alone opens nothing while nobody wants verification.
    expect(documentsOf({ ...enabled, verified: true })).toEqual([asking]);
  });

  it('is not introduced as a document into a configuration without one', () => {
    const bare = encodeYaml([
      { version: 'v1alpha1', machine: { type: 'controlplane' }, cluster: {} },
      { ...asking, image: 'example/kubelet:v1.37.0' },
    ]);
    expect(problemPaths({ ...verified, live: live(bare) })).toEqual(['KubeAPIServerConfig']);
    expect(documentsOf({ ...enabled, live: live(bare) })).toEqual([asking]);
    // A configuration from before 1.14 that says nothing about the API server takes the old field.
    const old = live('machine:\n  type: controlplane\n  kubelet: {}\ncluster: {}\n');
    expect(documentsOf({ ...verified, live: old })).toEqual([
      { ...legacyAsking, cluster: { apiServer: { extraArgs: verifying } } },
    ]);
  });

  it('of an administrator is neither overwritten nor taken away', () => {
    const foreign = { extraArgs: { 'kubelet-certificate-authority': '/own.crt' } };
    const spec = { live: live(documentConfig({ apiServer: foreign })) };
    const path = 'KubeAPIServerConfig.extraArgs.kubelet-certificate-authority';
    expect(problemPaths({ ...verified, ...spec })).toEqual([path]);
    expect(documentsOf({ ...removing, ...spec })).toEqual([]);
    expect(warningsOf({ ...removing, ...spec })).toEqual([
      `${path} holds a value that is not ours and stays.`,
    ]);
  });

  it('that is there before the cluster is verified is a warning', () => {
    const spec = {
      ...enabled,
      live: live(documentConfig({ apiServer: { extraArgs: verifying } })),
    };
    expect(documentsOf(spec)).toEqual([asking]);
    expect(warningsOf(spec)).toEqual([expect.stringContaining('verify kubelets already')]);
  });
});

describe('removing', () => {
  const on = {
    kubelet: { config: { serverTLSBootstrap: true } },
    apiServer: { extraArgs: verifying },
  };
  const without = {
    apiVersion: 'v1alpha1',
    kind: 'KubeletConfig',
    config: { serverTLSBootstrap: false },
  };
  const unverifying = {
    apiVersion: 'v1alpha1',
    kind: 'KubeAPIServerConfig',
    extraArgs: { 'kubelet-certificate-authority': { $patch: 'delete' } },
  };

  it('says false and deletes the flag where the machine has both', () => {
    expect(documentsOf({ ...removing, live: live(documentConfig(on)) })).toEqual([
      without,
      unverifying,
    ]);
  });

  it('has nothing to say where the machine has neither', () => {
    expect(documentsOf({ ...removing, live: live(documentConfig()) })).toEqual([]);
    expect(documentsOf({ ...removing, live: live(legacyConfig()) })).toEqual([]);
  });

  it('takes verification alone back while kubelets go on asking', () => {
    const spec = { ...removing, kubeletServingCertificates: { enabled: true } };
    expect(documentsOf({ ...spec, live: live(documentConfig(on)) })).toEqual([asking, unverifying]);
  });

  it('deletes a flag that it cannot see only where the cluster was verified', () => {
    expect(documentsOf({ ...removing, verified: true })).toEqual([without, unverifying]);
    expect(documentsOf(removing)).toEqual([without]);
    expect(warningsOf(removing, 'v1.14')).toEqual([expect.stringContaining('is left alone')]);
    expect(warningsOf({ ...removing, machineType: 'worker' }, 'v1.14')).toEqual([]);
  });

  it('says that a flag of the administrator keeps the kubelet asking', () => {
    const extraArgs = { 'rotate-server-certificates': 'true' };
    const spec = { ...removing, live: live(documentConfig({ kubelet: { extraArgs } })) };
    expect(documentsOf(spec)).toEqual([]);
    expect(warningsOf(spec)).toEqual([expect.stringContaining('it is not ours')]);
  });
});

describe('what a live kubelet has that bears on asking', () => {
  it.each(['true', 'True', '1', true, ['false', 'true']])(
    'rotate-server-certificates %j is already on',
    (value) => {
      for (const config of [legacyConfig, documentConfig]) {
        const spec = {
          ...enabled,
          live: live(config({ kubelet: { extraArgs: { 'rotate-server-certificates': value } } })),
        };
        expect(documentsOf(spec)).toEqual([]);
        expect(warningsOf(spec)).toEqual([
          expect.stringContaining('makes the kubelet ask already'),
        ]);
      }
    },
  );

  it.each<[string, object, string]>([
    [
      'a flag that wins over the field',
      { extraArgs: { 'rotate-server-certificates': 'false' } },
      'extraArgs.rotate-server-certificates',
    ],
    [
      'a flag that is no truth value',
      { extraArgs: { 'rotate-server-certificates': 'yes' } },
      'extraArgs.rotate-server-certificates',
    ],
    [
      'the last of a repeated flag',
      { extraArgs: { 'rotate-server-certificates': ['true', 'false'] } },
      'extraArgs.rotate-server-certificates',
    ],
    [
      'another host name',
      { extraArgs: { 'hostname-override': 'other' } },
      'extraArgs.hostname-override',
    ],
    ['another address', { extraArgs: { 'node-ip': '10.5.0.9' } }, 'extraArgs.node-ip'],
    [
      'the gate switched off by flag',
      { extraArgs: { 'feature-gates': 'A=true, RotateKubeletServerCertificate=false' } },
      'extraArgs.feature-gates',
    ],
    [
      'the gate switched off',
      { CONFIG: { featureGates: { RotateKubeletServerCertificate: false } } },
      'CONFIG.featureGates.RotateKubeletServerCertificate',
    ],
    [
      'a text for the field',
      { CONFIG: { serverTLSBootstrap: 'true' } },
      'CONFIG.serverTLSBootstrap',
    ],
    [
      'a field that Talos protects',
      { CONFIG: { rotateCertificates: true } },
      'CONFIG.rotateCertificates',
    ],
    ['another one', { CONFIG: { authentication: {} } }, 'CONFIG.authentication'],
  ])('%s is refused with its path', (_name, fields, path) => {
    for (const [config, root, key] of [
      [legacyConfig, '.machine.kubelet', 'extraConfig'],
      [documentConfig, 'KubeletConfig', 'config'],
    ] as const) {
      const kubelet = Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [name === 'CONFIG' ? key : name, value]),
      );
      const spec = { ...enabled, live: live(config({ kubelet })) };
      expect(problemPaths(spec)).toEqual([`${root}.${path.replace('CONFIG', key)}`]);
    }
  });

  it.each<[string, object]>([
    [
      'other flags',
      { extraArgs: { 'max-pods': '50', 'feature-gates': 'RotateKubeletServerCertificate=true' } },
    ],
    [
      'other fields',
      { config: { maxPods: 50, featureGates: { RotateKubeletServerCertificate: true } } },
    ],
    ['the field itself', { config: { serverTLSBootstrap: true } }],
    ['the field switched off', { config: { serverTLSBootstrap: false } }],
  ])('%s is no reason to refuse', (_name, kubelet) => {
    expect(documentsOf({ ...enabled, live: live(documentConfig({ kubelet })) })).toEqual([asking]);
  });

  it('a certificate of its own is a warning', () => {
    const spec = {
      ...enabled,
      live: live(documentConfig({ kubelet: { config: { tlsCertFile: '/a' } } })),
    };
    expect(warningsOf(spec)).toEqual([expect.stringContaining('KubeletConfig.config.tlsCertFile')]);
  });
});

describe('a worker', () => {
  const worker = { ...verified, machineType: 'worker' } as const;
  const text = documentConfig({ type: 'worker' });
  const stray = encodeYaml([
    { apiVersion: 'v1alpha1', kind: 'KubeAPIServerConfig', image: 'a:v1.37.0' },
  ]);

  it('with a KubeAPIServerConfig is refused, and without one is not', () => {
    expect(problemPaths({ ...worker, live: live(`${text}---\n${stray}`) })).toEqual([
      'KubeAPIServerConfig',
    ]);
    expect(documentsOf({ ...worker, live: live(text) })).toEqual([asking]);
  });

  it('with the flag in its old field is refused; other settings there are a warning', () => {
    const legacy = (fields: string) =>
      live(`machine:\n  type: worker\n  kubelet: {}\ncluster:\n  apiServer: ${fields}\n`);
    expect(
      problemPaths({ ...worker, live: legacy('{extraArgs: {kubelet-certificate-authority: /a}}') }),
    ).toEqual(['.cluster.apiServer.extraArgs.kubelet-certificate-authority']);
    expect(warningsOf({ ...worker, live: legacy('{certSANs: [a]}') })).toEqual([
      expect.stringContaining('.cluster.apiServer stands in the configuration of a worker'),
    ]);
  });

  it('whose configuration is a control plane’s is refused', () => {
    expect(problemPaths({ ...worker, live: live(legacyConfig()) })).toEqual(['.machine.type']);
  });
});

describe('the contract', () => {
  it.each(['v1', 'latest', '', 'v0.14', '1.14-rc.0'])('%j is refused', (contract) => {
    expect(problemPaths(enabled, contract)).toEqual(['spec.talos.contract']);
  });

  it.each(['v1.16', 'v2.0'])('%s is treated as the newest, with a warning', (contract) => {
    expect(documentsOf(enabled, contract)).toEqual([asking]);
    expect(warningsOf(enabled, contract)).toEqual([
      expect.stringContaining('it is treated as v1.15.'),
    ]);
  });

  it('v1.10 is rendered in the old shape, with a warning', () => {
    expect(documentsOf(enabled, 'v1.10')).toEqual([legacyAsking]);
    expect(warningsOf(enabled, 'v1.10')).toEqual([
      expect.stringContaining('oldest that is tested'),
    ]);
  });

  it('may be absent where the live configuration shows the shape', () => {
    expect(warningsOf({ ...enabled, live: live(legacyConfig()) })).toEqual([]);
    expect(warningsOf(enabled)).toEqual([expect.stringContaining('v1.15 is assumed')]);
  });
});

describe('whole documents', () => {
  const full = { ...verified, output: 'full' } as const;

  it('take their images from the version of Kubernetes, or as given', () => {
    const images = {
      kubelet: 'example/kubelet:v1.37.2@sha256:ab',
      apiServer: 'example/api:v1.37.2',
    };
    const text = (spec: ConfigSpec) => JSON.stringify(documentsOf(spec));
    expect(text({ ...full, kubernetesVersion: '1.37.2' })).toContain('siderolabs/kubelet:v1.37.2"');
    expect(text({ ...full, images })).toContain(images.kubelet);
    expect(
      text({ ...full, kubernetesVersion: 'v1.37.2', images: { kubelet: images.kubelet } }),
    ).toContain('kube-apiserver:v1.37.2"');
  });

  it.each<[Partial<ConfigSpec>, string]>([
    [{}, 'spec.kubernetes.version'],
    [{ kubernetesVersion: 'v1.37' }, 'spec.kubernetes.version'],
    [{ kubernetesVersion: 'v1.37.2', images: { kubelet: 'example/kubelet' } }, 'images.kubelet'],
    [
      { kubernetesVersion: 'v1.37.2', images: { apiServer: 'example/api:latest' } },
      'images.apiServer',
    ],
  ])('without a usable version or image are refused: %j', (spec, path) => {
    expect(problemPaths({ ...full, ...spec })).toEqual([path]);
  });

  it('never hold a directive of a patch', () => {
    const whole = goldenCases().filter(({ spec }) => spec.output === 'full');
    for (const { spec, contract } of whole) {
      expect(JSON.stringify(documentsOf(spec, contract))).not.toContain('$patch');
    }
  });
});

describe('contradictions', () => {
  it.each<[string, Partial<ConfigSpec>]>([
    [
      'verifying without asking',
      { kubeletServingCertificates: { enabled: false, verifyFromAPIServer: true } },
    ],
    [
      'removing what is wanted',
      { kubeletServingCertificates: { enabled: true, verifyFromAPIServer: true }, removing: true },
    ],
  ])('%s is refused', (_name, spec) => {
    expect(problemPaths({ machineType: 'worker', ...spec })).toEqual([
      'spec.security.kubeletServingCertificates.verifyFromAPIServer',
    ]);
  });
});

describe('rendering', () => {
  const option = fc.record({
    kubeletServingCertificates: fc.option(
      fc.record({ enabled: fc.boolean(), verifyFromAPIServer: fc.boolean() }),
      { nil: undefined },
    ),
    verified: fc.boolean(),
    removing: fc.boolean(),
    machineType: fc.constantFrom('controlplane' as const, 'worker' as const),
    output: fc.constantFrom('patch' as const, 'full' as const),
    kubernetesVersion: fc.option(fc.constantFrom('v1.37.2', 'nonsense'), { nil: undefined }),
  });
  const contracts = fc.oneof(fc.constantFrom('v1.11', 'v1.13', 'v1.14', 'v1.15'), fc.string());

  it('gives the same for the same, changes nothing that it is given, and never throws', () => {
    fc.assert(
      fc.property(option, contracts, (spec, contract) => {
        const before = structuredClone(spec);
        const first = renderConfig(spec, contract);
        expect(renderConfig(spec, contract)).toEqual(first);
        expect(spec).toEqual(before);
        if (first.kind === 'rendered') {
          expect(JSON.stringify(first.documents)).not.toContain('rotate-server-certificates');
        } else {
          for (const { path, sentence } of first.problems) {
            expect(sentence.startsWith(`${path} `)).toBe(true);
            expect(sentence).toMatch(/\.$/);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
