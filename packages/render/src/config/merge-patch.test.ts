import { describe, expect, it } from 'vitest';
import { documentConfig, legacyConfig } from '../testing/machine-configs.ts';
import { acceptedAuthoritiesFile } from './documents/api-server-settings.ts';
import type { ConfigDocument } from './documents/config-document.ts';
import { mergePatch } from './merge-patch.ts';

const ask: ConfigDocument = {
  apiVersion: 'v1alpha1',
  kind: 'KubeletConfig',
  config: { serverTLSBootstrap: true },
};
const legacyAsk: ConfigDocument = {
  machine: { kubelet: { extraConfig: { serverTLSBootstrap: true } } },
};
const verify: ConfigDocument = {
  cluster: {
    apiServer: { extraArgs: { 'kubelet-certificate-authority': acceptedAuthoritiesFile } },
  },
};
const unverify: ConfigDocument = {
  cluster: { apiServer: { extraArgs: { 'kubelet-certificate-authority': { $patch: 'delete' } } } },
};

const merged = (live: string, ...documents: ConfigDocument[]) => {
  const result = mergePatch(live, documents);
  return result.kind === 'merged' ? result.text : result.problems.map(({ sentence }) => sentence);
};

const rest = 'cluster:\n  apiServer:\n    image: a\n';

describe('mergePatch, where a field is missing', () => {
  it.each<[string, string, string]>([
    [
      'below a key',
      `machine:\n  kubelet: # ours\n    # about the image\n    image: a # b\n\n${rest}`,
      `machine:\n  kubelet: # ours\n    extraConfig:\n      serverTLSBootstrap: true\n    # about the image\n    image: a # b\n\n${rest}`,
    ],
    [
      'with the indentation that is used',
      `machine:\n    kubelet:\n        image: a\n${rest}`,
      `machine:\n    kubelet:\n        extraConfig:\n            serverTLSBootstrap: true\n        image: a\n${rest}`,
    ],
    [
      'in an empty mapping',
      `machine:\n  kubelet: {} # all defaults\n${rest}`,
      `machine:\n  kubelet:\n    extraConfig:\n      serverTLSBootstrap: true # all defaults\n${rest}`,
    ],
    [
      'in a null',
      `machine:\n  type: worker\n  kubelet:\n${rest}`,
      `machine:\n  type: worker\n  kubelet:\n    extraConfig:\n      serverTLSBootstrap: true\n${rest}`,
    ],
    [
      'in flow style',
      `machine: {type: worker, kubelet: {image: a}}\n${rest}`,
      `machine: {type: worker, kubelet: { extraConfig: { serverTLSBootstrap: true },image: a}}\n${rest}`,
    ],
    [
      'in an empty mapping in flow style',
      `machine: {kubelet: {extraConfig: {}}}\n${rest}`,
      `machine: {kubelet: {extraConfig: { serverTLSBootstrap: true }}}\n${rest}`,
    ],
    [
      'in a null in flow style',
      `machine: {kubelet: , type: worker}\n${rest}`,
      `machine: {kubelet: { extraConfig: { serverTLSBootstrap: true } }, type: worker}\n${rest}`,
    ],
    [
      'beside a merge key that does not have it',
      `x: &k {image: a}\nmachine:\n  kubelet:\n    <<: *k\n${rest}`,
      `x: &k {image: a}\nmachine:\n  kubelet:\n    extraConfig:\n      serverTLSBootstrap: true\n    <<: *k\n${rest}`,
    ],
    [
      'at the root',
      `# a comment\nversion: v1alpha1\n${rest}`,
      `# a comment\nmachine:\n  kubelet:\n    extraConfig:\n      serverTLSBootstrap: true\nversion: v1alpha1\n${rest}`,
    ],
    [
      'with line breaks as they are used',
      'machine:\r\n  kubelet:\r\n    image: a\r\ncluster: {}\r\n',
      'machine:\r\n  kubelet:\r\n    extraConfig:\r\n      serverTLSBootstrap: true\r\n    image: a\r\ncluster: {}\r\n',
    ],
    [
      'beside others of the same place',
      `machine:\n  kubelet:\n    extraConfig:\n      maxPods: 0050\n${rest}`,
      `machine:\n  kubelet:\n    extraConfig:\n      serverTLSBootstrap: true\n      maxPods: 0050\n${rest}`,
    ],
  ])('adds it %s and leaves everything else as it is', (_name, live, expected) => {
    expect(merged(live, legacyAsk)).toBe(expected);
  });
});

describe('mergePatch, where a field is there', () => {
  it.each([
    ['plain', 'false # for now', 'true # for now'],
    ['in the same line as others', '!!bool false', undefined],
  ])('replaces it: %s', (_name, before, after) => {
    const live = `machine:\n  kubelet:\n    extraConfig:\n      serverTLSBootstrap: ${before}\n${rest}`;
    expect(merged(live, legacyAsk)).toBe(
      live.replace(before, after ?? before.replace('false', 'true')),
    );
  });

  it('changes no byte where it says the same already', () => {
    const live = `machine:\n  kubelet: { "extraConfig" : {serverTLSBootstrap:   true} }\n${rest}`;
    expect(merged(live, legacyAsk)).toBe(live);
    expect(merged(live)).toBe(live);
  });

  it.each<[string, string, string]>([
    [
      'one of several',
      'extraArgs:\n      kubelet-certificate-authority: /a # by us\n      v: "4"\n    image: a\n',
      'extraArgs:\n      v: "4"\n    image: a\n',
    ],
    [
      'the only one',
      'extraArgs:\n      kubelet-certificate-authority: /a\n    image: a\n',
      'extraArgs: {}\n    image: a\n',
    ],
    [
      'the only one below a comment',
      'extraArgs: # mine\n      kubelet-certificate-authority: /a\n    image: a\n',
      'extraArgs: # mine\n      {}\n    image: a\n',
    ],
    [
      'the only one in flow style',
      'extraArgs: {kubelet-certificate-authority: /a}\n    image: a\n',
      'extraArgs: {}\n    image: a\n',
    ],
    [
      'the first in flow style',
      'extraArgs: {kubelet-certificate-authority: /a, v: "4"}\n    image: a\n',
      'extraArgs: {v: "4"}\n    image: a\n',
    ],
    [
      'the last in flow style, at the end of the text',
      'extraArgs: {v: "4", kubelet-certificate-authority: /a}',
      'extraArgs: {v: "4"}',
    ],
    [
      'the last of all, at the end of the text',
      'image: a\n    extraArgs:\n      v: "4"\n      kubelet-certificate-authority: /a',
      'image: a\n    extraArgs:\n      v: "4"\n',
    ],
  ])('takes it away: %s', (_name, before, after) => {
    const start = 'machine: {}\ncluster:\n  apiServer:\n    ';
    expect(merged(start + before, unverify)).toBe(start + after);
  });

  it('refuses to take away what is not there, as Talos does', () => {
    expect(merged(legacyConfig(), unverify)).toEqual([
      '.cluster.apiServer.extraArgs.kubelet-certificate-authority is not there to be deleted; leave it out of the patch.',
    ]);
  });
});

describe('mergePatch over several documents', () => {
  const live = `# first\n${documentConfig()}---\n# a comment\nkind: HostnameConfig\napiVersion: v1alpha1\nhostname:   x\n`;

  it('edits the one with the kind and no other', () => {
    expect(merged(live, ask)).toBe(
      live.replace('config: {}', 'config:\n  serverTLSBootstrap: true'),
    );
  });

  it('merges one patch after another', () => {
    const both = merged(legacyConfig(), legacyAsk, verify);
    expect(both).toBe(merged(String(merged(legacyConfig(), verify)), legacyAsk));
    expect(both).toContain(`kubelet-certificate-authority: ${acceptedAuthoritiesFile}`);
    expect(both).toContain('serverTLSBootstrap: true');
  });

  it('appends a whole document where there is none', () => {
    const bare = 'machine: {}\ncluster: {}';
    const whole: ConfigDocument = { ...ask, image: 'example/kubelet:v1.37.0' };
    expect(merged(bare, whole)).toBe(
      `${bare}\n---\napiVersion: v1alpha1\nkind: KubeletConfig\nconfig:\n  serverTLSBootstrap: true\nimage: example/kubelet:v1.37.0\n`,
    );
    expect(merged(bare, ask)).toEqual([
      expect.stringContaining(
        'KubeletConfig is not in this configuration, and a patch without an image',
      ),
    ]);
  });

  it('never makes both shapes of a component', () => {
    expect(merged(legacyConfig(), ask)).toEqual([
      expect.stringContaining('KubeletConfig cannot be introduced beside .machine.kubelet'),
    ]);
    expect(merged(documentConfig(), legacyAsk)).toEqual([
      expect.stringContaining(
        '.machine.kubelet cannot be patched beside the document KubeletConfig',
      ),
    ]);
    const flag: ConfigDocument = {
      apiVersion: 'v1alpha1',
      kind: 'KubeAPIServerConfig',
      image: 'a:v1.37.0',
    };
    expect(merged(legacyConfig(), flag)).toEqual([
      expect.stringContaining('KubeAPIServerConfig cannot be introduced beside .cluster.apiServer'),
    ]);
  });
});

describe('mergePatch refuses', () => {
  it.each<[string, string, string]>([
    ['what does not parse', 'machine: [', 'machine configuration is not YAML'],
    [
      'another type at the field',
      legacyConfig({ kubelet: { extraConfig: { serverTLSBootstrap: 'true' } } }),
      '.machine.kubelet.extraConfig.serverTLSBootstrap is "true"',
    ],
    [
      'a scalar where a mapping belongs',
      'machine:\n  kubelet: 5\ncluster: {}\n',
      '.machine.kubelet is 5; it must be a mapping.',
    ],
    [
      'an alias on the way',
      'x: &k {image: a}\nmachine:\n  kubelet: *k\ncluster: {}\n',
      'is spelled in a way that is not edited here',
    ],
    [
      'a merge key on the way',
      'x: &k {extraConfig: {maxPods: 5}}\nmachine:\n  kubelet:\n    <<: *k\ncluster: {}\n',
      'is spelled in a way that is not edited here',
    ],
    [
      'an anchor that is used elsewhere',
      'machine:\n  kubelet:\n    extraConfig: &k\n      maxPods: 5\ncluster: *k\n',
      'is spelled in a way that is not edited here',
    ],
    [
      'a key that is spelled out',
      'machine:\n  kubelet:\n    ? extraConfig\n    : # none\n      {}\ncluster: {}\n',
      'is spelled in a way that is not edited here',
    ],
  ])('%s', (_name, live, sentence) => {
    expect(merged(live, legacyAsk)).toEqual([expect.stringContaining(sentence)]);
  });

  it('a list where one text belongs', () => {
    const live = legacyConfig({
      apiServer: { extraArgs: { 'kubelet-certificate-authority': ['/a'] } },
    });
    expect(merged(live, verify)).toEqual([
      expect.stringContaining('kubelet-certificate-authority is ["/a"], which'),
    ]);
  });
});
