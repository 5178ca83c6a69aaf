import { X509Certificate } from 'node:crypto';
import { isIPv6, SocketAddress } from 'node:net';
import { denyReasons, SIGNER_NAME } from '@ichor/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createCluster,
  eventually,
  installOperator,
  type KubeRequester,
  notYet,
  type OperatorProcess,
  operatorNamespace,
  setOptions,
  startOperator,
  startTestbed,
  type Testbed,
} from '../src/index.ts';
import {
  fixtureEndpoint,
  fixtureNodes,
  groupedByOptions,
  requestOf,
  storableVectors,
  type StorableVector as Vector,
} from './storable-vectors.ts';

// The decision vectors of @ichor/policy that a real API server stores, put before the running operator: created
// one after another by the vector's own user, about machines whose Talos nodes say what the vectors' readings say.

type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
};

/** A request as the API server returns it, the parts that are looked at. */
type StoredRequest = {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly spec: Vector['csr']['spec'];
  readonly status: { readonly conditions?: readonly Condition[]; readonly certificate?: string };
};

type Created = { readonly vector: Vector; readonly stored: StoredRequest };

/** Every request in the order of its creation. */
const created: Created[] = [];
const requesters = new Map<string, KubeRequester>();
let testbed: Testbed;
let operator: OperatorProcess;
let startedAt = 0;

const vectors = storableVectors();

beforeAll(async () => {
  testbed = await startTestbed({ talosNodes: fixtureNodes });
  await installOperator(testbed);
  await testbed.apply(anyoneMayCreateRequests());
  await createCluster(testbed, fixtureNodes, undefined, {
    kubernetes: { endpoint: fixtureEndpoint },
  });
  operator = await startOperator(testbed);
  startedAt = performance.now();
});

afterAll(async () => {
  console.log(summary((performance.now() - startedAt) / 1_000));
  await testbed?.close();
});

it('there are 288 vectors about worker-1 or no machine, and 2 about worker-10', () => {
  const about = (name?: string) =>
    vectors.filter(({ node: { identity } }) => identity?.nodeName === name).length;
  const counts = { baseline: about('worker-1') + about(), 'worker-10': about('worker-10') };
  console.log(`${vectors.length} vectors for a real API server: ${JSON.stringify(counts)}`);
  expect(counts).toEqual({ baseline: 288, 'worker-10': 2 });
  expect(new Set(vectors.map(({ csr }) => csr.metadata.name)).size).toBe(vectors.length);
});

describe.each(groupedByOptions(vectors))('with the options $options', ({ options, members }) => {
  beforeAll(async () => {
    await setOptions(testbed, { enabled: true, ...options });
  });

  it.each(members.map((vector) => [vector.id, vector.title, vector] as const))(
    '%s: %s',
    async (_, __, vector) => {
      const stored = await create(vector);
      created.push({ vector, stored });
      const { kind } = vector.expect;
      // The operator does not look at other signers: that nothing happens is seen at the end.
      if (vector.csr.spec.signerName !== SIGNER_NAME) return;
      const { uid, name } = stored.metadata;
      const said = await operator.decisionOn(uid, 10_000);
      expect({ kind: said.kind, reasons: said.reasons?.toSorted() }).toEqual({
        kind,
        reasons: kind === 'approve' ? ['IchorKubeletServing'] : vector.expect.reasons.toSorted(),
      });
      expect(said).toMatchObject({ request: name, user: vector.csr.spec.username });

      const { conditions = [] } = (await read(name)).status;
      if (kind === 'approve') expectApproval(conditions, vector);
      else if (kind === 'deny') expectDenial(conditions, vector.expect.reasons);
      else expect(conditions).toEqual([]);
    },
  );
});

describe('once a later request is decided', () => {
  let stored: ReadonlyMap<string, StoredRequest>;
  const createdBy = (wanted: (vector: Vector) => boolean): readonly Created[] => {
    const found = created.filter(({ vector }) => wanted(vector));
    expect(found.length).toBeGreaterThan(0);
    return found;
  };

  beforeAll(async () => {
    const baseline = vectors.find(({ id }) => id === 'H01');
    if (baseline === undefined) throw new Error('There is no vector H01.');
    const sentinel = await create({
      ...baseline,
      csr: { ...baseline.csr, metadata: { name: 'sentinel' } },
    });
    const { kind } = await operator.decisionOn(sentinel.metadata.uid);
    expect(kind).toBe('approve');
    stored = await allRequests();
  });

  it('every request is there still', () => {
    expect(vectors.filter(({ csr }) => !stored.has(csr.metadata.name)).map(({ id }) => id)).toEqual(
      [],
    );
  });

  it('requests of other signers are neither written to nor spoken of', () => {
    const log = operator.log();
    for (const { vector, stored: before } of createdBy(
      ({ csr }) => csr.spec.signerName !== SIGNER_NAME,
    )) {
      const after = stored.get(before.metadata.name);
      expect(vector.expect.reasons, vector.id).toEqual(['NotKubeletServing']);
      expect(after, vector.id).toEqual(before);
      expect(
        log.filter(({ uid }) => uid === before.metadata.uid),
        vector.id,
      ).toEqual([]);
    }
  });

  it('nothing is written to what was left pending', () => {
    for (const { vector, stored: before } of createdBy(
      ({ csr, expect: { kind } }) => csr.spec.signerName === SIGNER_NAME && kind === 'pending',
    )) {
      expect(stored.get(before.metadata.name), vector.id).toEqual(before);
    }
  });

  it('the operator has met nothing that it could not do', () => {
    const troubles = operator.log().filter(({ level }) => level !== 'info');
    expect(troubles).toEqual([]);
  });

  it('what was approved is signed for the names that the condition tells, and no others', async () => {
    for (const { vector, stored: before } of createdBy(
      ({ expect: { kind } }) => kind === 'approve',
    )) {
      const signed = await eventually(`${vector.id} is signed`, async () => {
        const { status } = await read(before.metadata.name);
        return status.certificate === undefined ? notYet(status.conditions) : status;
      });
      const certificate = new X509Certificate(Buffer.from(signed.certificate ?? '', 'base64'));
      const told = signed.conditions?.[0]?.message ?? '';
      expect(namesToldBy(told), vector.id).toEqual(namesIn(certificate));
    }
  });

  it('an Event on the TalosMachine tells of each reason for a denial', async () => {
    const reasons = new Set(
      createdBy(({ expect: { kind } }) => kind === 'deny').map(
        ({ vector }) => vector.expect.reasons[0] ?? '',
      ),
    );
    const path = `/apis/events.k8s.io/v1/namespaces/${operatorNamespace}/events?limit=500`;
    for (const reason of reasons) {
      const event = await eventually(`an Event with the reason ${reason}`, async () => {
        const { body } = await testbed.admin.send(path);
        const found = body.items.find((item: { reason: string }) => item.reason === reason);
        return found ?? notYet(body.items.map((item: { reason: string }) => item.reason));
      });
      expect(event).toMatchObject({
        type: 'Warning',
        regarding: { kind: 'TalosMachine', name: 'worker-1', namespace: operatorNamespace },
        related: { kind: 'CertificateSigningRequest' },
      });
      const related = created.find(
        ({ stored: { metadata } }) =>
          metadata.uid === event.related.uid && metadata.name === event.related.name,
      );
      expect(related?.vector.expect.reasons[0]).toBe(reason);
      expect(event.note).toMatch(new RegExp(`^${reason}: `));
    }
  });
});

function anyoneMayCreateRequests(): object {
  const metadata = { name: 'testbed:create-requests' };
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: `${apiGroup}/v1`,
        kind: 'ClusterRole',
        metadata,
        rules: [
          {
            apiGroups: ['certificates.k8s.io'],
            resources: ['certificatesigningrequests'],
            verbs: ['create'],
          },
        ],
      },
      {
        apiVersion: `${apiGroup}/v1`,
        kind: 'ClusterRoleBinding',
        metadata,
        roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
        subjects: [{ apiGroup, kind: 'Group', name: 'system:authenticated' }],
      },
    ],
  };
}

/** Creates the vector's request as its user, and makes sure that the server stored exactly what the vector says. */
async function create(vector: Vector): Promise<StoredRequest> {
  const { request: _, username, groups: memberOf, ...rest } = vector.csr.spec;
  const { signerName, usages, expirationSeconds } = rest;
  const spec = {
    request: requestOf(vector),
    signerName,
    usages,
    ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
  };
  const { status, body } = await requesterOf(username, memberOf).send(testbed.csrPath(), {
    method: 'POST',
    body: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: await metadataOf(vector),
      spec,
    },
  });
  expect(status, `${vector.id}: ${body?.message}`).toBe(201);
  expect(body.spec).toEqual({
    ...spec,
    username,
    groups: memberOf,
    // The server's own words about the client certificate.
    extra: expect.anything(),
  });
  return body as StoredRequest;
}

function requesterOf(user: string, memberOf: readonly string[]): KubeRequester {
  const key = JSON.stringify([user, memberOf]);
  const known = requesters.get(key);
  if (known !== undefined) return known;
  const made = testbed.requester(testbed.clientCertificate({ user, groups: memberOf }));
  requesters.set(key, made);
  return made;
}

/** The vector's metadata; an owner is made, because the garbage collector deletes what an absent one owns. */
async function metadataOf({ csr }: Vector): Promise<object> {
  const { name, labels, annotations, ownerReferences } = csr.metadata;
  const owners = (ownerReferences ?? []).map(async (reference) => {
    const owner = reference as { apiVersion: string; kind: string; name: string };
    expect(owner).toMatchObject({ apiVersion: 'v1', kind: 'Node' });
    const { body } = await testbed.admin.send('/api/v1/nodes', {
      method: 'POST',
      body: { apiVersion: 'v1', kind: 'Node', metadata: { name: owner.name } },
    });
    return { ...owner, uid: body.metadata.uid };
  });
  return { name, labels, annotations, ownerReferences: await Promise.all(owners) };
}

async function read(name: string): Promise<StoredRequest> {
  const { body } = await testbed.admin.send(testbed.csrPath(name));
  return body as StoredRequest;
}

async function allRequests(): Promise<ReadonlyMap<string, StoredRequest>> {
  const { body } = await testbed.admin.send(testbed.csrPath());
  // Items of a list carry neither apiVersion nor kind, which a single object does.
  return new Map(
    body.items.map((item: StoredRequest) => [
      item.metadata.name,
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        ...item,
      },
    ]),
  );
}

function expectApproval(conditions: readonly Condition[], { node: reading }: Vector): void {
  expect(conditions).toHaveLength(1);
  const nodeName = reading.identity?.nodeName;
  expect(conditions[0]).toMatchObject({
    type: 'Approved',
    status: 'True',
    reason: 'IchorKubeletServing',
  });
  expect(conditions[0]?.message).toMatch(
    new RegExp(`^Node ${nodeName} has these names: (DNS|IP) `),
  );
}

/** The names that an approval's message gives a source for, sorted, as `DNS worker-1` or `IP fd00:5::11`. */
function namesToldBy(message: string): readonly string[] {
  const told = [...message.matchAll(/(DNS|IP) (\S+) \((?:NodeIP|Nodename|HostnameStatus)\)/g)];
  return [...new Set(told.map(([, kind, name]) => `${kind} ${name}`))].sort();
}

/** The names of a certificate in the same form. */
function namesIn({ subjectAltName }: X509Certificate): readonly string[] {
  const spelled = (subjectAltName ?? '').split(', ').map((entry) => {
    const [, kind, name = ''] = /^(DNS|IP)(?: Address)?:(.*)$/.exec(entry) ?? [entry];
    if (kind === 'DNS') return `DNS ${name}`;
    const family = isIPv6(name) ? 'ipv6' : 'ipv4';
    return `${kind} ${new SocketAddress({ address: name, family }).address}`;
  });
  return [...new Set(spelled)].sort();
}

function expectDenial(conditions: readonly Condition[], reasons: readonly string[]): void {
  expect(conditions).toHaveLength(1);
  // A vector's reasons stand in the order of the rules, so the first one is the condition's.
  expect(conditions[0]).toMatchObject({ type: 'Denied', status: 'True', reason: reasons[0] });
  const message = conditions[0]?.message ?? '';
  const told = Object.keys(denyReasons).filter((code) =>
    new RegExp(`(^|\\. )${code}: `).test(message),
  );
  expect(told.toSorted(), message).toEqual(reasons.toSorted());
}

function summary(seconds: number): string {
  const share = (kind: Vector['expect']['kind']): string => {
    const count = created.filter(({ vector }) => vector.expect.kind === kind).length;
    return `${kind} ${count} (${((100 * count) / created.length).toFixed(1)} %)`;
  };
  return `${created.length} requests in ${seconds.toFixed(1)} s: ${share('approve')}, ${share('deny')}, ${share('pending')}`;
}
