import { describe, expect, it } from 'vitest';
import { goldenCases } from '../testing/golden-files.ts';
import { changesOf } from './changes-of.ts';
import { renderConfig } from './render-config.ts';

const effects = (...documents: object[]) =>
  changesOf(documents).map(({ path, effect }) => [path, effect]);

describe('changesOf', () => {
  it('names each field of a document with what it costs', () => {
    expect(
      changesOf([
        {
          apiVersion: 'v1alpha1',
          kind: 'KubeletConfig',
          image: 'a:v1.37.2',
          config: { serverTLSBootstrap: true },
        },
      ]),
    ).toEqual([
      { document: 'KubeletConfig', path: 'KubeletConfig.apiVersion', effect: 'none' },
      { document: 'KubeletConfig', path: 'KubeletConfig.kind', effect: 'none' },
      { document: 'KubeletConfig', path: 'KubeletConfig.image', effect: 'kubeletRestart' },
      {
        document: 'KubeletConfig',
        path: 'KubeletConfig.config.serverTLSBootstrap',
        effect: 'kubeletRestart',
      },
    ]);
  });

  it('counts taking a field away as a change of the field', () => {
    const extraArgs = { 'kubelet-certificate-authority': { $patch: 'delete' } };
    expect(effects({ cluster: { apiServer: { extraArgs } } })).toEqual([
      ['.cluster.apiServer.extraArgs.kubelet-certificate-authority', 'apiServerRestart'],
    ]);
  });

  it.each<[object, string]>([
    [{ machine: { kubelet: { image: 'a:v1.34.2' } } }, 'kubeletRestart'],
    [{ machine: { kubelet: {} } }, 'kubeletRestart'],
    [{ machine: { kubeletOther: 1 } }, 'reboot'],
    [{ machine: { sysctls: { a: 'b' } } }, 'none'],
    [{ machine: { files: [] } }, 'reboot'],
    [{ machine: { features: { hostDNS: { enabled: true } } } }, 'none'],
    [{ machine: { features: { rbac: true } } }, 'reboot'],
    [{ cluster: { network: {} } }, 'none'],
    [{ cluster: { etcd: { image: 'a' } } }, 'reboot'],
    [{ version: 'v1alpha1' }, 'none'],
    [{ kind: 'HostnameConfig' }, 'none'],
  ])('of %j is %s', (document, effect) => {
    expect(changesOf([document]).map((change) => change.effect)).toEqual([effect]);
  });

  it('of everything that is rendered is a restart at most', () => {
    const changes = goldenCases().flatMap(({ spec, contract }) => {
      const rendered = renderConfig(spec, contract);
      return rendered.kind === 'rendered' ? changesOf(rendered.documents) : [];
    });
    expect(new Set(changes.map(({ effect }) => effect))).toEqual(
      new Set(['none', 'kubeletRestart', 'apiServerRestart']),
    );
    for (const { path, effect } of changes) {
      const meta = /\.(apiVersion|kind|version)$/.test(path);
      const apiServer = /APIServer|apiServer/.test(path);
      expect([path, effect]).toEqual([
        path,
        meta ? 'none' : apiServer ? 'apiServerRestart' : 'kubeletRestart',
      ]);
    }
  });
});
