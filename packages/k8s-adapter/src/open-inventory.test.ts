import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Inventory, MachineEvent } from './inventory.ts';
import { openInventory } from './open-inventory.ts';
import { parseTalosMachine } from './parse-talos-machine.ts';
import { failure, json, ScriptedApiServer } from './testing/loopback/scripted-api-server.ts';

const stored = {
  metadata: { name: 'worker-1', namespace: 'ichor', uid: 'u-1', resourceVersion: '7' },
  spec: { clusterRef: { name: 'lab' }, machineType: 'worker', address: '10.5.0.11' },
};
const parsed = parseTalosMachine(stored);
if (parsed.kind !== 'valid') throw new Error(parsed.value.problem);
const machine = parsed.value;
const event: MachineEvent = {
  machine,
  type: 'Warning',
  reason: 'NameReserved',
  action: 'Deny',
  note: 'NameReserved: "10.5.0.100"',
  related: { name: 'csr-a', uid: 'c-1' },
};
const date = 'Fri, 02 Jan 2026 03:04:05 GMT';
const created = json({}, 201, { Date: date });
const exists = failure(409, 'already exists', 'AlreadyExists');
const missing = failure(404, 'not found', 'NotFound');

let server: ScriptedApiServer;
let inventory: Inventory;

beforeEach(async () => {
  server = await ScriptedApiServer.start();
  server.lists = [json({ metadata: { resourceVersion: '9' }, items: [] }, 200, { Date: date })];
  server.watches = [
    (_request, response) => {
      response.writeHead(200, { Date: date });
      response.flushHeaders();
    },
  ];
  inventory = openInventory(server.connect({ attempts: 1 }), 'ichor', { instance: 'ichor-0' });
  await server.arrived(4);
});

afterEach(async () => {
  inventory.close();
  await server.stop();
});

/** What was written: method, path, body. */
const writes = () =>
  server.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method, url, body }) => ({ method, url, body: JSON.parse(body) }));

describe('the inventory', () => {
  it('is that of one namespace', () => {
    const paths = new Set(server.requests.map(({ url }) => url.pathname));
    expect(paths).toEqual(
      new Set([
        '/apis/ichor.dev/v1alpha1/namespaces/ichor/talosclusters',
        '/apis/ichor.dev/v1alpha1/namespaces/ichor/talosmachines',
      ]),
    );
  });
});

describe('a status', () => {
  it('is applied whole by the field manager ichor, by force', async () => {
    server.others = [json({})];
    await inventory.applyMachineStatus('worker-1', { nodeName: 'worker-1' });
    const arrived = server.requests.at(-1);
    expect(arrived?.headers['content-type']).toBe('application/apply-patch+yaml');
    expect(arrived?.method).toBe('PATCH');
    expect(arrived?.url.pathname).toBe(
      '/apis/ichor.dev/v1alpha1/namespaces/ichor/talosmachines/worker-1/status',
    );
    expect(Object.fromEntries(arrived?.url.searchParams ?? [])).toEqual({
      fieldManager: 'ichor',
      force: 'true',
    });
    expect(JSON.parse(arrived?.body ?? '')).toEqual({
      apiVersion: 'ichor.dev/v1alpha1',
      kind: 'TalosMachine',
      metadata: { name: 'worker-1', namespace: 'ichor' },
      status: { nodeName: 'worker-1' },
    });
  });

  it('that is refused names the object', async () => {
    server.others = [failure(422, 'status.machines.total: must be an integer', 'Invalid')];
    const applied = inventory.applyClusterStatus('lab', { observedGeneration: 1, conditions: [] });
    await expect(applied).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(
        /^Applying the status of TalosCluster ichor\/lab failed with HTTP 422: status.machines.total/,
      ),
    });
  });
});

describe('an Event', () => {
  it('is created once and then counted', async () => {
    server.others = [created, json({})];
    for (let times = 0; times < 3; times += 1) await inventory.recordEvent(event);
    const [first, second, third] = writes();
    expect(first).toMatchObject({
      method: 'POST',
      url: { pathname: '/apis/events.k8s.io/v1/namespaces/ichor/events' },
    });
    const { name } = first?.body.metadata ?? {};
    expect(name).toMatch(/^worker-1\.[0-9a-f]{16}$/);
    expect(first?.body).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace: 'ichor' },
      eventTime: expect.stringMatching(/^2026-01-02T03:04:0\d\.\d{6}Z$/),
      reportingController: 'ichor.dev/operator',
      reportingInstance: 'ichor-0',
      type: 'Warning',
      reason: 'NameReserved',
      action: 'Deny',
      note: 'NameReserved: "10.5.0.100"',
      regarding: {
        apiVersion: 'ichor.dev/v1alpha1',
        kind: 'TalosMachine',
        namespace: 'ichor',
        name: 'worker-1',
        uid: 'u-1',
      },
      related: {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        name: 'csr-a',
        uid: 'c-1',
      },
    });
    expect(second).toMatchObject({
      method: 'PATCH',
      url: { pathname: `/apis/events.k8s.io/v1/namespaces/ichor/events/${name}` },
      body: {
        series: { count: 2, lastObservedTime: expect.stringMatching(/\.\d{6}Z$/) },
      },
    });
    expect(third?.body.series.count).toBe(3);
    expect(server.requests.at(-1)?.headers['content-type']).toBe('application/merge-patch+json');
  });

  it('of before a restart is counted on from what is stored', async () => {
    server.others = [exists, json({ series: { count: 7 } }), json({})];
    await inventory.recordEvent(event);
    expect(writes().map(({ method, body }) => [method, body.series?.count])).toEqual([
      ['POST', undefined],
      ['PATCH', undefined],
      ['PATCH', 8],
    ]);
  });

  it('that happened once before a restart has happened twice', async () => {
    server.others = [exists, json({}), json({})];
    await inventory.recordEvent(event);
    expect(writes().at(-1)?.body.series.count).toBe(2);
  });

  it('that has expired meanwhile is created anew and counts from one', async () => {
    server.others = [created, missing, created, json({})];
    for (let times = 0; times < 3; times += 1) await inventory.recordEvent(event);
    expect(writes().map(({ method, body }) => [method, body.series?.count])).toEqual([
      ['POST', undefined],
      ['PATCH', 2],
      ['POST', undefined],
      ['PATCH', 2],
    ]);
  });

  it('that expires between create and count is created after all', async () => {
    server.others = [exists, missing, created];
    await inventory.recordEvent(event);
    expect(writes().map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
  });

  it('repeated at once is counted one after another', async () => {
    server.others = [created, json({})];
    await Promise.all(Array.from({ length: 4 }, () => inventory.recordEvent(event)));
    expect(writes().map(({ body }) => body.series?.count)).toEqual([undefined, 2, 3, 4]);
  });

  it('after one that failed is recorded all the same', async () => {
    server.others = [failure(403, 'no', 'Forbidden'), created];
    const failed = inventory.recordEvent(event);
    const second = inventory.recordEvent(event);
    await expect(failed).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(
        /^Recording the Event NameReserved of TalosMachine worker-1 failed with HTTP 403/,
      ),
    });
    await expect(second).resolves.toBeUndefined();
  });

  it('has a name of its own for each machine, reason and incarnation', async () => {
    server.others = [created];
    await inventory.recordEvent(event);
    await inventory.recordEvent({ ...event, reason: 'Namereserved' });
    await inventory.recordEvent({ ...event, machine: { ...machine, uid: 'u-2' } });
    await inventory.recordEvent({
      ...event,
      machine: { ...machine, name: `${'a'.repeat(235)}.b` },
    });
    const names = writes().map(({ body }) => body.metadata.name as string);
    expect(new Set(names).size).toBe(4);
    for (const name of names) {
      expect(name).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/);
      expect(name.length).toBeLessThanOrEqual(253);
    }
  });

  it('keeps to the lengths that the API server takes, in bytes', async () => {
    server.others = [created];
    await inventory.recordEvent({ ...event, note: 'n'.repeat(1024) });
    await inventory.recordEvent({
      ...event,
      reason: 'R'.repeat(200),
      action: 'A'.repeat(200),
      note: '😀'.repeat(400),
    });
    const [fits, cut] = writes().map(({ body }) => body);
    expect(fits.note).toBe('n'.repeat(1024));
    expect(cut.note).toBe(`${'😀'.repeat(255)}…`);
    expect(Buffer.byteLength(cut.reason)).toBe(128);
    expect(Buffer.byteLength(cut.action)).toBe(128);
  });
});

describe('a Secret', () => {
  it('is read by key, decoded', async () => {
    server.others = [json({ data: { config: 'YQD/', empty: '' } })];
    const values = await inventory.readSecret('lab-talos');
    expect([...values]).toEqual([
      ['config', Uint8Array.of(0x61, 0x00, 0xff)],
      ['empty', new Uint8Array()],
    ]);
    expect(server.requests.at(-1)?.url.pathname).toBe('/api/v1/namespaces/ichor/secrets/lab-talos');
  });

  it('without data is empty', async () => {
    server.others = [json({})];
    expect((await inventory.readSecret('lab-talos')).size).toBe(0);
  });

  it('that does not exist is named, and no data is in the error', async () => {
    server.others = [missing];
    await expect(inventory.readSecret('lab-talos')).rejects.toMatchObject({
      code: 'notFound',
      message:
        'Reading Secret ichor/lab-talos failed with HTTP 404: not found; check that it exists.',
    });
  });
});
