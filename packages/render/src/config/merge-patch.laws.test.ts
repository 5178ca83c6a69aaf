import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import type { ConfigSpec } from './config-spec.ts';
import { shapeOf } from './live/shape-of.ts';
import { mergePatch } from './merge-patch.ts';
import { renderConfig } from './render-config.ts';

const key = fc.constantFrom('image', 'a', 'b-c', 'd.e/f', 'on', '12', 'é', 'x y');
const leaf = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.integer(),
  fc.constant(null),
  fc.constantFrom('no', '0644', '1e3', '# a', 'a: b', 'line\nbreak\n', '   ', '- x', '{'),
);
const tree = fc.letrec<{ any: unknown; map: object }>((tie) => ({
  map: fc.dictionary(key, tie('any'), { maxKeys: 4, noNullPrototype: true }),
  any: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('any'), { maxLength: 3 }), tie('map')),
}));
const component = (settings: string) =>
  fc
    .tuple(
      tree.map,
      fc.option(fc.dictionary(key, leaf, { maxKeys: 3, noNullPrototype: true }), {
        nil: undefined,
      }),
      fc.option(fc.dictionary(key, leaf.map(String), { maxKeys: 3, noNullPrototype: true }), {
        nil: undefined,
      }),
    )
    .map(([fields, config, extraArgs]) => ({
      ...fields,
      ...(config === undefined ? {} : { [settings]: config }),
      ...(extraArgs === undefined ? {} : { extraArgs }),
    }));

/** A control plane's configuration in either shape, with fields of all kinds around what is owned here. */
const documents = fc
  .tuple(
    tree.map,
    tree.map,
    fc.boolean(),
    component('extraConfig'),
    component('config'),
    component('unused'),
    tree.map,
  )
  .map(([machine, cluster, legacy, old, kubelet, apiServer, other]): object[] => [
    {
      version: 'v1alpha1',
      machine: { ...machine, type: 'controlplane', ...(legacy ? { kubelet: old } : {}) },
      cluster: { ...cluster, ...(legacy ? { apiServer } : {}) },
    },
    ...(legacy
      ? []
      : [
          { ...kubelet, apiVersion: 'v1alpha1', kind: 'KubeletConfig' },
          { apiVersion: 'v1alpha1', kind: 'KubeAPIServerConfig', ...apiServer },
        ]),
    { apiVersion: 'v1alpha1', kind: 'Other', ...other },
  ]);
const layout = fc.record({
  indent: fc.constantFrom(2, 4, 3),
  collectionStyle: fc.constantFrom('any' as const, 'any' as const, 'flow' as const),
  indentSeq: fc.boolean(),
  defaultStringType: fc.constantFrom('PLAIN' as const, 'QUOTE_DOUBLE' as const),
});
const config = fc
  .tuple(documents, layout)
  .map(([objects, options]) =>
    objects
      .map((object) => stringify(object, { ...options, aliasDuplicateObjects: false }))
      .join('---\n'),
  );

const on: ConfigSpec = {
  machineType: 'controlplane',
  kubeletServingCertificates: { enabled: true, verifyFromAPIServer: true },
  verified: true,
};

/** What a text says, without the fields that rendering owns and the mappings that hold nothing else. */
const notOwned = (text: string): unknown => {
  const parsed = parseAllDocuments(text);
  const values = Array.isArray(parsed) ? parsed.map((one) => one.toJS()) : [];
  const drop = (mapping: Record<string, unknown> | undefined, settings: string): void => {
    for (const [parent, field] of [
      [settings, 'serverTLSBootstrap'],
      ['extraArgs', 'kubelet-certificate-authority'],
    ] as const) {
      const inner = mapping?.[parent] as Record<string, unknown> | null | undefined;
      if (inner === null || inner === undefined) continue;
      delete inner[field];
      if (Object.keys(inner).length === 0) delete mapping?.[parent];
    }
  };
  for (const value of values) {
    drop(value?.machine?.kubelet, 'extraConfig');
    drop(value?.cluster?.apiServer, 'extraConfig');
    if (value.kind !== undefined && value.kind !== 'Other') drop(value, 'config');
  }
  return values;
};

/** Renders for what a configuration says and merges the result into it. */
const applied = (text: string, spec: ConfigSpec): string => {
  const read = shapeOf(text);
  if (read.kind === 'refused') throw new Error(read.problems[0]?.sentence);
  const rendered = renderConfig({ ...spec, live: read.live }, 'v1.14');
  if (rendered.kind === 'refused') throw new Error(rendered.problems[0].sentence);
  const merged = mergePatch(text, rendered.documents);
  if (merged.kind === 'refused') throw new Error(merged.problems[0].sentence);
  return merged.text;
};

describe('what is rendered for a configuration and merged into it', () => {
  it('leaves every byte where the option is off', () => {
    fc.assert(
      fc.property(config, (text) => {
        expect(applied(text, { machineType: 'controlplane' })).toBe(text);
      }),
      { numRuns: 75 },
    );
  });

  it('leaves every field that it does not own, on and off again', () => {
    let changed = 0;
    fc.assert(
      fc.property(config, (text) => {
        const after = applied(text, on);
        const back = applied(after, { machineType: 'controlplane', removing: true });
        if (after !== text) changed += 1;
        expect(notOwned(after)).toEqual(notOwned(text));
        expect(notOwned(back)).toEqual(notOwned(text));
        expect(after).toContain('serverTLSBootstrap: true');
        expect(back).toContain('serverTLSBootstrap: false');
        expect(back).not.toContain('kubelet-certificate-authority');
      }),
      { numRuns: 150 },
    );
    expect(changed).toBe(150);
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(config, (text) => {
        const once = applied(text, on);
        expect(applied(once, on)).toBe(once);
      }),
      { numRuns: 75 },
    );
  });
});
