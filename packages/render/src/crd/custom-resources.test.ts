import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import { type JsonSchema, withDefaults } from './json-schema.ts';
import { talosClusterCrd, talosClusterSchema } from './talos-cluster-crd.ts';
import { talosMachineCrd, talosMachineSchema } from './talos-machine-crd.ts';

/** Every schema below one, with its path. */
function* walk(schema: JsonSchema, path: string): Generator<[string, JsonSchema]> {
  yield [path, schema];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* walk(property, `${path}.${name}`);
  }
  if (schema.items !== undefined) yield* walk(schema.items, `${path}[]`);
}

const all = [
  ...walk(talosClusterSchema, 'TalosCluster'),
  ...walk(talosMachineSchema, 'TalosMachine'),
].filter(([path]) => !/\.(apiVersion|kind)$/.test(path));

const at = (path: string): JsonSchema => {
  const found = all.find(([candidate]) => candidate === path);
  if (found === undefined) throw new Error(`no schema at ${path}`);
  return found[1];
};

describe('the schemas', () => {
  it('describe every field', () => {
    expect(all.filter(([, schema]) => schema.description.length < 8)).toEqual([]);
  });

  it('bound every text, so that rules cannot cost too much', () => {
    const unbounded = all.filter(
      ([, schema]) =>
        schema.type === 'string' &&
        schema.maxLength === undefined &&
        schema.enum === undefined &&
        schema.format === undefined,
    );
    expect(unbounded.map(([path]) => path)).toEqual([]);
  });

  it('bound every list and say how server-side apply merges it', () => {
    const lists = all.filter(([, schema]) => schema.type === 'array');
    expect(lists.length).toBeGreaterThan(10);
    const careless = lists.filter(
      ([, schema]) => schema.maxItems === undefined || !schema['x-kubernetes-list-type'],
    );
    expect(careless.map(([path]) => path)).toEqual([]);
  });

  it('state a range for every number', () => {
    const numbers = all.filter(([, schema]) => schema.type === 'integer');
    expect(numbers.length).toBeGreaterThan(3);
    expect(numbers.filter(([, schema]) => schema.minimum === undefined)).toEqual([]);
  });

  it('explain every rule in a sentence of their own', () => {
    const rules = all.flatMap(([, schema]) => schema['x-kubernetes-validations'] ?? []);
    expect(rules.length).toBeGreaterThan(8);
    expect(rules.filter(({ message }) => message.length < 15)).toEqual([]);
  });

  it('merge conditions by their type', () => {
    expect(at('TalosCluster.status.conditions')).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });
  });
});

describe('TalosCluster', () => {
  it('reads back as off where nothing is said', () => {
    expect(withDefaults(talosClusterSchema, { spec: { security: {} } })).toEqual({
      spec: {
        talos: { endpoints: [] },
        kubernetes: {},
        security: {
          kubeletServingCertificates: {
            enabled: false,
            verifyFromAPIServer: false,
            unknownNames: 'Deny',
            extraDNSNames: [],
            extraSubnets: [],
            probe: true,
          },
        },
        reserved: { dnsNames: [], ipAddresses: [], subnets: [] },
        configManagement: 'Render',
      },
    });
  });

  it('stays on where it was switched on', () => {
    const spec = { security: { kubeletServingCertificates: { enabled: true } } };
    expect(withDefaults(talosClusterSchema, { spec })).toMatchObject({ spec });
  });

  it('requires security and nothing else of its spec', () => {
    expect(at('TalosCluster.spec').required).toEqual(['security']);
    expect(at('TalosCluster.spec.security').required).toBeUndefined();
  });
});

describe('TalosMachine', () => {
  it('requires what a machine cannot be found and reached without', () => {
    expect(at('TalosMachine.spec').required).toEqual(['clusterRef', 'machineType', 'address']);
  });

  it('has no default: an inventory is written, not guessed', () => {
    const spec = { clusterRef: { name: 'lab' }, machineType: 'worker', address: '10.5.0.11' };
    expect(withDefaults(talosMachineSchema, { spec })).toEqual({ spec });
  });
});

describe('the definitions', () => {
  it.each<[string, CustomResourceDefinition, string[]]>([
    [
      'talosclusters.ichor.dev',
      talosClusterCrd(),
      ['Enabled', 'Certified', 'Machines', 'Certificates', 'Reason', 'Age'],
    ],
    [
      'talosmachines.ichor.dev',
      talosMachineCrd(),
      ['Cluster', 'Type', 'Address', 'Node', 'Certificate-until', 'Age'],
    ],
  ])(
    '%s: namespaced, with a status of its own and one line that says how it is',
    (name, crd, columns) => {
      expect(crd.metadata.name).toBe(name);
      expect(crd.spec.scope).toBe('Namespaced');
      expect(crd.spec.versions[0].subresources).toEqual({ status: {} });
      expect(crd.spec.versions[0].additionalPrinterColumns.map((column) => column.name)).toEqual(
        columns,
      );
    },
  );
});

describe('the table of objects for a real API server', () => {
  const rows = JSON.parse(
    readFileSync(new URL('../../testdata/custom-resources.json', import.meta.url), 'utf8'),
  ) as { title: string; field: string; refused: { kind: string }; accepted: { kind: string } }[];

  it('names fields that exist and pairs objects of one kind', () => {
    const paths = new Set(all.map(([path]) => path));
    for (const { title, field, refused, accepted } of rows) {
      expect(paths, title).toContain(`${refused.kind}.${field}`);
      expect(accepted.kind, title).toBe(refused.kind);
      expect(accepted, title).not.toEqual(refused);
    }
  });

  it('has a row for every field with a rule', () => {
    const fields = new Set(rows.map(({ field, refused }) => `${refused.kind}.${field}`));
    const ruled = all
      .filter(([, schema]) => schema['x-kubernetes-validations'] !== undefined)
      .map(([path]) => path.replace(/\[\]$/, ''));
    // That one compares an object with what was stored before; a single object cannot break it.
    const immutable = 'TalosMachine.spec.clusterRef';
    expect(ruled.filter((path) => path !== immutable && !fields.has(path))).toEqual([]);
  });
});
