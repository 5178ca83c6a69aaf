import { readFileSync } from 'node:fs';
import { parseTalosCluster, parseTalosMachine } from '@ichor/k8s-adapter';
import { talosClusterSchema, talosMachineSchema, withDefaults } from '@ichor/render';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  installOperator,
  type KubeResponse,
  operatorNamespace,
  startTestbed,
  type Testbed,
} from '../src/index.ts';

// The CustomResourceDefinitions on a real API server: what it refuses and stores, what it adds, what kubectl shows.

type CustomResource = {
  readonly apiVersion: string;
  readonly kind: 'TalosCluster' | 'TalosMachine';
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
};

/** One object that the schema refuses, the field that is why, and the nearest object that it accepts. */
type Row = {
  readonly title: string;
  readonly field: string;
  readonly refused: CustomResource;
  readonly accepted: CustomResource;
};

const rows = JSON.parse(
  readFileSync(new URL('../../render/testdata/custom-resources.json', import.meta.url), 'utf8'),
) as readonly Row[];

const schemas = { TalosCluster: talosClusterSchema, TalosMachine: talosMachineSchema };
const parsers = { TalosCluster: parseTalosCluster, TalosMachine: parseTalosMachine };
const pathOf = (kind: CustomResource['kind'], name = ''): string =>
  `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}/${kind.toLowerCase()}s/${name}`;

let testbed: Testbed;

beforeAll(async () => {
  testbed = await startTestbed();
  await installOperator(testbed);
});

afterAll(async () => {
  await testbed?.close();
});

const create = (object: CustomResource, query = ''): Promise<KubeResponse> =>
  testbed.admin.send(`${pathOf(object.kind)}?fieldValidation=Strict${query}`, {
    method: 'POST',
    body: object,
  });
const patch = (
  path: string,
  body: object,
  contentType = 'application/merge-patch+json',
): Promise<KubeResponse> => testbed.admin.send(path, { method: 'PATCH', contentType, body });

const cluster = (name: string, spec: CustomResource['spec']): CustomResource => ({
  apiVersion: 'ichor.dev/v1alpha1',
  kind: 'TalosCluster',
  metadata: { name },
  spec,
});
const machine = (name: string, spec: CustomResource['spec'] = {}): CustomResource => ({
  apiVersion: 'ichor.dev/v1alpha1',
  kind: 'TalosMachine',
  metadata: { name },
  spec: { clusterRef: { name: 'lab' }, machineType: 'worker', address: '10.5.0.11', ...spec },
});

describe.each(rows)('$title', ({ field, refused, accepted }) => {
  it(`is refused for ${field}`, async () => {
    const { status, body } = await create(refused, '&dryRun=All');
    expect(status).toBe(422);
    expect(body.reason).toBe('Invalid');
    expect(body.message).toContain(field);
    const causes = (body.details.causes as { field: string; message: string }[])
      // Rules are not run on an object of the wrong shape, which the server says in a cause of its own.
      .filter(({ message }) => !message.includes('some validation rules were not checked'));
    expect(causes.length).toBeGreaterThan(0);
    // Nothing else may be wrong with it: each cause is this field or lies in it.
    for (const cause of causes) {
      const path = `${cause.field.replaceAll('[', '.')}.`;
      expect(path.startsWith(`${field}.`), cause.field).toBe(true);
    }
  });

  it('has a neighbour that is accepted, stored as its schema says, and usable', async () => {
    const { status, body } = await create(accepted, '&dryRun=All');
    expect(status, body.message).toBe(201);
    expect(body.spec).toEqual(
      (withDefaults(schemas[accepted.kind], accepted) as CustomResource).spec,
    );
    // A dry run gives no resource version.
    const stored = { ...body, metadata: { resourceVersion: '1', ...body.metadata } };
    expect(parsers[accepted.kind](stored).kind).toBe('valid');
  });
});

describe('a field that does not exist', () => {
  it('is refused by its name, as kubectl asks for', async () => {
    const misspelt = await create(
      cluster('typo', { security: { kubeletServingCertificates: { enable: true } } }),
      '&dryRun=All',
    );
    expect(misspelt.status).toBe(400);
    expect(misspelt.body.message).toContain(
      'unknown field "spec.security.kubeletServingCertificates.enable"',
    );
    const spelt = await create(
      cluster('typo', { security: { kubeletServingCertificates: { enabled: true } } }),
      '&dryRun=All',
    );
    expect(spelt.status).toBe(201);
  });
});

describe('a cluster about which nothing is said', () => {
  it('reads back as switched off, with every default', async () => {
    expect((await create(cluster('plain', { security: {} }))).status).toBe(201);
    const { body } = await testbed.admin.send(pathOf('TalosCluster', 'plain'));
    expect(body.spec).toEqual({
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
    });
    expect(parseTalosCluster(body)).toMatchObject({
      kind: 'valid',
      value: { spec: { servingCertificates: { enabled: false } } },
    });
  });

  it('is still off where security is null, as a template may leave it', async () => {
    const { status, body } = await create(
      cluster('null', { security: { kubeletServingCertificates: null } }),
      '&dryRun=All',
    );
    expect(status).toBe(201);
    expect(body.spec.security.kubeletServingCertificates.enabled).toBe(false);
  });
});

describe('the cluster of a machine', () => {
  it('cannot be changed; its address can', async () => {
    expect((await create(machine('moving'))).status).toBe(201);
    const path = pathOf('TalosMachine', 'moving');
    const moved = await patch(path, { spec: { clusterRef: { name: 'other' } } });
    expect(moved.status).toBe(422);
    expect(moved.body.details.causes).toEqual([
      expect.objectContaining({ field: 'spec.clusterRef' }),
    ]);
    const readdressed = await patch(path, { spec: { address: '10.5.0.12' } });
    expect(readdressed.status).toBe(200);
    expect(readdressed.body.metadata.generation).toBe(2);
  });
});

describe('the status', () => {
  const condition = (type: string, status: 'True' | 'False') => ({
    type,
    status,
    reason: 'Test',
    message: 'a test',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const conditionTypes = async (): Promise<readonly string[]> => {
    const { body } = await testbed.admin.send(pathOf('TalosCluster', 'conditions'));
    return body.status.conditions.map(({ type }: { type: string }) => type).sort();
  };
  const apply = async (manager: string, conditions: readonly object[]): Promise<void> => {
    const path = `${pathOf('TalosCluster', 'conditions')}/status?fieldManager=${manager}`;
    const { metadata, ...object } = cluster('conditions', {});
    const { status, body } = await patch(
      path,
      { apiVersion: object.apiVersion, kind: object.kind, metadata, status: { conditions } },
      'application/apply-patch+yaml',
    );
    expect(status, body.message).toBe(200);
  };

  it('is not written with the object, and the spec is not written with the status', async () => {
    const path = pathOf('TalosMachine', 'apart');
    expect((await create({ ...machine('apart'), status: { nodeName: 'x' } } as never)).status).toBe(
      201,
    );
    const whole = await patch(path, { status: { nodeName: 'x' }, spec: { hostname: 'apart' } });
    expect(whole.body.status).toBeUndefined();
    expect(whole.body.metadata.generation).toBe(2);
    const status = await patch(`${path}/status`, {
      status: { nodeName: 'apart' },
      spec: { address: '10.5.0.99' },
    });
    expect(status.body).toMatchObject({
      status: { nodeName: 'apart' },
      spec: { address: '10.5.0.11' },
      metadata: { generation: 2 },
    });
  });

  it('keeps the conditions of several writers apart by their type', async () => {
    expect((await create(cluster('conditions', { security: {} }))).status).toBe(201);
    await apply('ichor', [
      condition('KubeletServingCertificates', 'False'),
      condition('Operational', 'True'),
    ]);
    await apply('somebody', [condition('Reviewed', 'True')]);
    expect(await conditionTypes()).toEqual([
      'KubeletServingCertificates',
      'Operational',
      'Reviewed',
    ]);
    await apply('ichor', [condition('KubeletServingCertificates', 'True')]);
    expect(await conditionTypes()).toEqual(['KubeletServingCertificates', 'Reviewed']);
  });

  const certificate = {
    request: 'csr-1',
    issuedAt: '2026-01-01T00:00:00Z',
    notAfter: '2027-01-01T00:00:00Z',
    dnsNames: ['recorded'],
    ipAddresses: ['10.5.0.11'],
    fingerprint: 'ab'.repeat(32),
    adopted: false,
  };
  it.each([
    ['fingerprint', 'AB'.repeat(32)],
    ['fingerprint', 'ab'.repeat(31)],
    ['issuedAt', 'yesterday'],
    ['notAfter', undefined],
  ])('of a machine is refused with the %s %j, and taken as it is written', async (field, wrong) => {
    await create(machine('recorded'));
    const path = `${pathOf('TalosMachine', 'recorded')}/status?dryRun=All`;
    const refused = await patch(path, {
      status: { kubeletServingCertificate: { ...certificate, [field]: wrong } },
    });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain(`status.kubeletServingCertificate.${field}`);
    const taken = await patch(path, { status: { kubeletServingCertificate: certificate } });
    expect(taken.status).toBe(200);
    expect(parseTalosMachine(taken.body)).toMatchObject({
      value: { status: { kubeletServingCertificate: certificate } },
    });
  });
});

describe('kubectl get', () => {
  /** The table that kubectl prints; fields are set apart by at least three blanks. */
  const table = async (what: string): Promise<readonly (readonly string[])[]> => {
    const { code, stdout, stderr } = await testbed.kubectl([
      'get',
      what,
      `--namespace=${operatorNamespace}`,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    return lines.map((line) => line.trimEnd().split(/\s{3,}/));
  };

  it('says of a cluster in one line how it is', async () => {
    await create(cluster('told', { security: { kubeletServingCertificates: { enabled: true } } }));
    const status = {
      machines: { total: 3, certified: 2 },
      conditions: [
        {
          type: 'KubeletServingCertificates',
          status: 'False',
          reason: 'MachinesUncertified',
          message: 'worker-1 has no certificate',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    await patch(`${pathOf('TalosCluster', 'told')}/status`, { status });
    const [header, ...lines] = await table('talosclusters');
    expect(header).toEqual([
      'NAME',
      'ENABLED',
      'CERTIFIED',
      'MACHINES',
      'CERTIFICATES',
      'REASON',
      'AGE',
    ]);
    expect(lines.find(([name]) => name === 'told')).toEqual([
      'told',
      'true',
      '2',
      '3',
      'False',
      'MachinesUncertified',
      expect.stringMatching(/^\d+s$/),
    ]);
  });

  it('says of a machine whose it is and until when it is certified', async () => {
    await create(machine('shown'));
    const status = {
      nodeName: 'worker-9',
      kubeletServingCertificate: {
        issuedAt: '2026-01-01T00:00:00Z',
        notAfter: '2027-01-01T00:00:00Z',
        fingerprint: 'ab'.repeat(32),
      },
    };
    await patch(`${pathOf('TalosMachine', 'shown')}/status`, { status });
    const [header, ...lines] = await table('talosmachines');
    expect(header).toEqual([
      'NAME',
      'CLUSTER',
      'TYPE',
      'ADDRESS',
      'NODE',
      'CERTIFICATE-UNTIL',
      'AGE',
    ]);
    expect(lines.find(([name]) => name === 'shown')).toEqual([
      'shown',
      'lab',
      'worker',
      '10.5.0.11',
      'worker-9',
      '2027-01-01T00:00:00Z',
      expect.stringMatching(/^\d+s$/),
    ]);
  });

  it('shows both kinds under the category ichor', async () => {
    const { stdout } = await testbed.kubectl([
      'get',
      'ichor',
      `--namespace=${operatorNamespace}`,
      '--output=name',
    ]);
    expect(stdout.trim().split('\n')).toEqual(
      expect.arrayContaining(['taloscluster.ichor.dev/told', 'talosmachine.ichor.dev/shown']),
    );
  });
});
