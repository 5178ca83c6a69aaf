import { readFileSync } from 'node:fs';
import { parseTalosCluster, parseTalosMachine } from '@ichor/k8s-adapter';
import { describe, expect, it } from 'vitest';
import { withDefaults } from './json-schema.ts';
import { talosClusterSchema } from './talos-cluster-crd.ts';
import { talosMachineSchema } from './talos-machine-crd.ts';

// The operator parses objects without relying on the schema being installed. Both must mean the
// same: what the API server accepts can be used, and nobody fills in a default of their own.

interface StoredObject {
  readonly apiVersion: string;
  readonly kind: 'TalosCluster' | 'TalosMachine';
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
}

const rows = JSON.parse(
  readFileSync(new URL('../../testdata/custom-resources.json', import.meta.url), 'utf8'),
) as { title: string; accepted: StoredObject }[];

const server = { namespace: 'ichor-system', uid: 'u', resourceVersion: '1', generation: 1 };

const parse = (object: StoredObject) => {
  const received = { ...object, metadata: { ...object.metadata, ...server } };
  return object.kind === 'TalosCluster' ? parseTalosCluster(received) : parseTalosMachine(received);
};

const schemas = { TalosCluster: talosClusterSchema, TalosMachine: talosMachineSchema };

describe('what the schemas accept', () => {
  it.each(rows.map(({ title, accepted }) => [title, accepted] as const))(
    'is usable, with and without the defaults of the server: the neighbour of %s',
    (_, accepted) => {
      const asWritten = parse(accepted);
      const asStored = parse(withDefaults(schemas[accepted.kind], accepted) as StoredObject);
      expect(asWritten.kind).toBe('valid');
      expect(asStored).toEqual(asWritten);
    },
  );

  it('is off where nothing is said', () => {
    const parsed = parse({
      apiVersion: 'ichor.dev/v1alpha1',
      kind: 'TalosCluster',
      metadata: { name: 'lab' },
      spec: { security: {} },
    });
    expect(parsed).toMatchObject({
      kind: 'valid',
      value: {
        spec: { servingCertificates: { enabled: false, verifyFromAPIServer: false } },
      },
    });
  });
});
