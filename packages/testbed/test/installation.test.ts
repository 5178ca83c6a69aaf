import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createServingRequest,
  customResourcesServed,
  eventually,
  type KubeRequester,
  mayI,
  operatorNamespace,
  type ResourceAccess,
  rightsOf,
  runIchor,
  startTestbed,
  type Testbed,
} from '../src/index.ts';

// What `ichor manifests` prints, applied to a cluster that has never seen it, and what the ServiceAccount in it may
// do on that cluster's API server: exactly what the operator needs.

const image = 'ichor.example/ichor:test';
const servingSigner = 'kubernetes.io/kubelet-serving';
const account = `system:serviceaccount:${operatorNamespace}:ichor`;

let testbed: Testbed;
/** The operator's ServiceAccount. */
let operator: KubeRequester;
/** A ServiceAccount of the same namespace that nothing was granted to. */
let bystander: KubeRequester;
/** Everything below relies on it, so it comes before the tests. */
let firstApply: Awaited<ReturnType<typeof applyManifests>>;

/** The objects that were applied, as kubectl names them. */
const installed = [
  `namespace/${operatorNamespace}`,
  'customresourcedefinition.apiextensions.k8s.io/talosclusters.ichor.dev',
  'customresourcedefinition.apiextensions.k8s.io/talosmachines.ichor.dev',
  'serviceaccount/ichor',
  'clusterrole.rbac.authorization.k8s.io/ichor',
  'clusterrolebinding.rbac.authorization.k8s.io/ichor:ichor-system',
  'role.rbac.authorization.k8s.io/ichor',
  'rolebinding.rbac.authorization.k8s.io/ichor',
  'deployment.apps/ichor',
];

beforeAll(async () => {
  testbed = await startTestbed();
  firstApply = await applyManifests(['--image', image]);
  await customResourcesServed(testbed);
  const asAccount = async (name: string) =>
    testbed.requester({
      token: await testbed.serviceAccountToken({ namespace: operatorNamespace, name }),
    });
  operator = await asAccount('ichor');
  bystander = await eventually('the namespace has its default ServiceAccount', () =>
    asAccount('default'),
  );
});

afterAll(async () => {
  await testbed?.close();
});

async function applyManifests(args: readonly string[]) {
  const printed = await runIchor(['manifests', ...args]);
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  const { code, stdout, stderr } = await testbed.kubectl(['apply', '-f', '-'], {
    stdin: printed.stdout,
  });
  return { code, stderr, lines: stdout.trim().split('\n') };
}

describe('ichor manifests | kubectl apply -f -', () => {
  it('creates everything in one go on a cluster that has only what every cluster has', () => {
    expect(firstApply).toEqual({
      code: 0,
      // Where the Deployment's pods broke the namespace's Pod Security Standard, a warning would stand here.
      stderr: '',
      lines: installed.map((object) => `${object} created`),
    });
  });

  it('changes nothing when it is applied again', async () => {
    const versions = async () => {
      const { stdout } = await testbed.kubectl([
        'get',
        ...installed,
        `--namespace=${operatorNamespace}`,
        '--output=jsonpath={range .items[*]}{.kind} {.metadata.uid} {.metadata.generation}{"\\n"}{end}',
      ]);
      return stdout.trim().split('\n');
    };
    const before = await versions();
    expect(before).toHaveLength(installed.length);
    expect(await applyManifests(['--image', image])).toEqual({
      code: 0,
      stderr: '',
      lines: installed.map((object) => `${object} unchanged`),
    });
    expect(await versions()).toEqual(before);
  });

  it('leaves the Deployment out with --only crds,rbac', async () => {
    const { lines } = await applyManifests(['--only', 'crds,rbac']);
    expect(lines).toEqual(installed.slice(0, -1).map((object) => `${object} unchanged`));
  });
});

describe('the rights of the ServiceAccount, beyond those of every ServiceAccount', () => {
  const everywhere = [
    'approve certificates.k8s.io/signers[kubernetes.io/kubelet-serving]',
    'get certificates.k8s.io/certificatesigningrequests[*]',
    'get core/namespaces[kube-system]',
    'list certificates.k8s.io/certificatesigningrequests[*]',
    'update certificates.k8s.io/certificatesigningrequests/approval[*]',
    'watch certificates.k8s.io/certificatesigningrequests[*]',
  ];
  const inNamespace = [
    'create events.k8s.io/events[*]',
    'get core/secrets[*]',
    'get ichor.dev/talosclusters[*]',
    'get ichor.dev/talosmachines[*]',
    'list ichor.dev/talosclusters[*]',
    'list ichor.dev/talosmachines[*]',
    'patch events.k8s.io/events[*]',
    'patch ichor.dev/talosclusters/status[*]',
    'patch ichor.dev/talosmachines/status[*]',
    'watch ichor.dev/talosclusters[*]',
    'watch ichor.dev/talosmachines[*]',
  ];
  const granted = async (namespace: string) => {
    const anyway = new Set(await rightsOf(bystander, namespace));
    // Otherwise what is compared with would be nothing.
    expect(anyway).toContain('create authorization.k8s.io/selfsubjectaccessreviews[*]');
    return (await rightsOf(operator, namespace)).filter((right) => !anyway.has(right));
  };

  it('are those of the manifests in its namespace', async () => {
    expect(await granted(operatorNamespace)).toEqual([...everywhere, ...inNamespace].sort());
  });

  it.each(['default', 'kube-system', 'kube-public'])(
    'are the cluster-wide ones alone in namespace %s',
    async (namespace) => {
      expect(await granted(namespace)).toEqual(everywhere);
    },
  );
});

describe('every verb on every resource of certificates.k8s.io', () => {
  const verbs = [
    'get',
    'list',
    'watch',
    'create',
    'update',
    'patch',
    'delete',
    'deletecollection',
    'approve',
    'sign',
    'attest',
    'request-serviceaccounts-token-audience',
    'use',
    'bind',
    'escalate',
    'impersonate',
    '*',
  ];
  const resources = [
    'certificatesigningrequests',
    'certificatesigningrequests/approval',
    'certificatesigningrequests/status',
    'certificatesigningrequests/*',
    'clustertrustbundles',
    'podcertificaterequests',
    'podcertificaterequests/status',
    '*',
  ];
  const signers = [
    servingSigner,
    'kubernetes.io/*',
    'kubernetes.io/kube-apiserver-client',
    'kubernetes.io/kube-apiserver-client-kubelet',
    'kubernetes.io/legacy-unknown',
    'kubernetes.io/kubelet-serving2',
    'kubernetes.io/kubelet-servin',
    'kubernetes.io/Kubelet-Serving',
    'kubernetes.io/kube-apiserver-serving',
    'example.com/kubelet-serving',
    'example.com/*',
    '*',
  ];
  const ours = 'ClusterRoleBinding "ichor:ichor-system" of ClusterRole "ichor" to ServiceAccount';
  // Kubernetes lets every ServiceAccount read trust anchors: they are public.
  const builtIn =
    'ClusterRoleBinding "system:cluster-trust-bundle-discovery" of ClusterRole "system:cluster-trust-bundle-discovery" to Group "system:serviceaccounts"';
  const allowed = new Map([
    ['get certificatesigningrequests', ours],
    ['list certificatesigningrequests', ours],
    ['watch certificatesigningrequests', ours],
    ['update certificatesigningrequests/approval', ours],
    [`approve signers ${servingSigner}`, ours],
    ['get clustertrustbundles', builtIn],
    ['list clustertrustbundles', builtIn],
    ['watch clustertrustbundles', builtIn],
  ]);

  const answersOf = async (asked: readonly (readonly [string, ResourceAccess])[]) => {
    const answers = await Promise.all(
      asked.map(async ([line, access]) => [line, await mayI(operator, access)] as const),
    );
    return answers.filter(([, answer]) => answer.allowed);
  };
  const asked = (resource: string, verb: string, name?: string): [string, ResourceAccess] => {
    const [whole = '', subresource] = resource.split('/');
    return [
      [verb, resource, ...(name === undefined ? [] : [name])].join(' '),
      {
        group: 'certificates.k8s.io',
        resource: whole,
        verb,
        ...(subresource === undefined ? {} : { subresource }),
        ...(name === undefined ? {} : { name }),
      },
    ];
  };

  it('looks at every resource that this API server has in the group', async () => {
    const { body: group } = await testbed.admin.send('/apis/certificates.k8s.io');
    const served = new Set<string>();
    for (const { groupVersion } of group.versions) {
      const { body } = await testbed.admin.send(`/apis/${groupVersion}`);
      for (const { name } of body.resources) served.add(name);
    }
    expect(served.size).toBeGreaterThan(2);
    expect([...served].filter((name) => !resources.includes(name))).toEqual([]);
  });

  it('is denied but for reading requests, writing approvals, and approving for one signer', async () => {
    const cases = verbs.flatMap((verb) => [
      ...resources.map((resource) => asked(resource, verb)),
      ...[undefined, ...signers].map((signer) => asked('signers', verb, signer)),
    ]);
    expect(cases.length).toBeGreaterThan(300);
    const granted = await answersOf(cases);
    expect(granted.map(([line]) => line).sort()).toEqual([...allowed.keys()].sort());
    for (const [line, { reason }] of granted) expect(reason).toContain(allowed.get(line));
  });

  it('is denied in the namespace of the operator, too', async () => {
    const cases = verbs.flatMap((verb) =>
      ['podcertificaterequests', 'podcertificaterequests/status'].map((resource) => {
        const [line, access] = asked(resource, verb);
        return [line, { ...access, namespace: operatorNamespace }] as const;
      }),
    );
    expect(await answersOf(cases)).toEqual([]);
  });
});

describe('calls as the ServiceAccount', () => {
  const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const one = `${collection}/serving`;
  const pem = createServingRequest(
    { commonName: 'system:node:worker-1', organizations: ['system:nodes'] },
    { dnsNames: ['worker-1'], ipAddresses: ['10.5.0.11'] },
  ).request;
  const otherSigners = [
    ['client', 'kubernetes.io/kube-apiserver-client'],
    ['kubelet-client', 'kubernetes.io/kube-apiserver-client-kubelet'],
    ['near-miss', 'kubernetes.io/kubelet-serving2'],
    ['foreign', 'example.com/kubelet-serving'],
  ] as const;
  const certificate = Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64');
  const decided = (object: { readonly status: object }, type: 'Approved' | 'Denied') => ({
    ...object,
    status: {
      ...object.status,
      conditions: [{ type, status: 'True', reason: 'Test', message: 'a test decided this' }],
    },
  });
  const read = async (name: string) => (await operator.send(`${collection}/${name}`)).body;

  beforeAll(async () => {
    const requests = [['serving', servingSigner], ['denied', servingSigner], ...otherSigners];
    for (const [name = '', signerName = ''] of requests) {
      const { status } = await testbed.createCsr(
        testbed.clientCertificate({ user: 'someone', groups: ['system:masters'] }),
        { name, signerName, request: pem },
      );
      expect(status).toBe(201);
    }
    await testbed.apply({
      apiVersion: 'v1',
      kind: 'List',
      items: [operatorNamespace, 'default'].map((namespace) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'a-secret', namespace },
        stringData: { config: 'text' },
      })),
    });
  });

  it.each([
    ['POST', collection, 'create', 'certificatesigningrequests'],
    ['PUT', one, 'update', 'certificatesigningrequests'],
    ['PATCH', one, 'patch', 'certificatesigningrequests'],
    ['DELETE', one, 'delete', 'certificatesigningrequests'],
    ['DELETE', collection, 'deletecollection', 'certificatesigningrequests'],
    ['GET', `${one}/status`, 'get', 'certificatesigningrequests/status'],
    ['PUT', `${one}/status`, 'update', 'certificatesigningrequests/status'],
    ['PATCH', `${one}/status`, 'patch', 'certificatesigningrequests/status'],
    ['GET', `${one}/approval`, 'get', 'certificatesigningrequests/approval'],
    ['PATCH', `${one}/approval`, 'patch', 'certificatesigningrequests/approval'],
    ['POST', '/apis/certificates.k8s.io/v1/clustertrustbundles', 'create', 'clustertrustbundles'],
  ] as const)('%s %s is forbidden', async (method, path, verb, resource) => {
    const body =
      method === 'PATCH'
        ? { status: { certificate } }
        : { ...(await read('serving')), status: { certificate } };
    const answer = await operator.send(path, {
      method,
      ...(method === 'GET' ? {} : { body }),
      ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}),
    });
    expect(answer.status).toBe(403);
    expect(answer.body.message).toContain(
      `User "${account}" cannot ${verb} resource "${resource}" in API group "certificates.k8s.io"`,
    );
  });

  it.each(otherSigners)(
    'a decision on the request "%s" of %s is forbidden',
    async (name, signer) => {
      const object = await read(name);
      expect(object.spec.signerName).toBe(signer);
      for (const type of ['Approved', 'Denied'] as const) {
        const body = decided(object, type);
        const answer = await operator.send(`${collection}/${name}/approval`, {
          method: 'PUT',
          body,
        });
        expect(answer.status).toBe(403);
        expect(answer.body.message).toContain(
          `user not permitted to approve requests with signerName "${signer}"`,
        );
      }
      expect(await read(name)).toEqual(object);
    },
  );

  it.each([
    ['serving', 'Approved'],
    ['denied', 'Denied'],
  ] as const)('a decision on the request "%s" of our signer is taken: %s', async (name, type) => {
    const body = decided(await read(name), type);
    const answer = await operator.send(`${collection}/${name}/approval`, { method: 'PUT', body });
    expect(answer.status).toBe(200);
    expect(answer.body.status.conditions).toMatchObject([{ type, reason: 'Test' }]);
  });

  it('requests are listed and watched', async () => {
    const query = `?fieldSelector=${encodeURIComponent(`spec.signerName=${servingSigner}`)}`;
    const listed = await operator.send(`${collection}${query}`);
    expect(listed.body.items).toHaveLength(2);
    const watched = await operator.send(`${collection}${query}&watch=true&timeoutSeconds=1`);
    expect(watched.status).toBe(200);
    expect(JSON.parse(watched.text.split('\n')[0] ?? '').type).toBe('ADDED');
  });

  it.each([
    ['/api/v1/namespaces/default/secrets/a-secret', 'get', 'secrets', ''],
    ['/api/v1/namespaces/kube-system/secrets/a-secret', 'get', 'secrets', ''],
    ['/api/v1/secrets', 'list', 'secrets', ''],
    [`/api/v1/namespaces/${operatorNamespace}/secrets`, 'list', 'secrets', ''],
    [`/api/v1/namespaces/${operatorNamespace}/secrets?watch=true`, 'watch', 'secrets', ''],
    [`/api/v1/namespaces/${operatorNamespace}/configmaps`, 'list', 'configmaps', ''],
    [`/api/v1/namespaces/${operatorNamespace}/pods`, 'list', 'pods', ''],
    ['/api/v1/nodes', 'list', 'nodes', ''],
    ['/api/v1/nodes/worker-1/proxy/configz', 'get', 'nodes/proxy', ''],
    ['/api/v1/namespaces/default', 'get', 'namespaces', ''],
    ['/apis/ichor.dev/v1alpha1/talosclusters', 'list', 'talosclusters', 'ichor.dev'],
    [
      '/apis/ichor.dev/v1alpha1/namespaces/default/talosmachines/worker-1',
      'get',
      'talosmachines',
      'ichor.dev',
    ],
    [
      `/apis/events.k8s.io/v1/namespaces/${operatorNamespace}/events`,
      'list',
      'events',
      'events.k8s.io',
    ],
  ])('GET %s is forbidden', async (path, verb, resource, group) => {
    const answer = await operator.send(path);
    expect(answer.status).toBe(403);
    expect(answer.body.message).toContain(
      `User "${account}" cannot ${verb} resource "${resource}" in API group "${group}"`,
    );
  });

  it.each([
    `/api/v1/namespaces/${operatorNamespace}/secrets/a-secret`,
    '/api/v1/namespaces/kube-system',
    `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}/talosclusters`,
    `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}/talosmachines?watch=true&timeoutSeconds=1`,
  ])('GET %s is answered', async (path) => {
    expect((await operator.send(path)).status).toBe(200);
  });

  it('a token for another ServiceAccount, or its own, is not to be had', async () => {
    for (const name of ['ichor', 'default']) {
      const path = `/api/v1/namespaces/${operatorNamespace}/serviceaccounts/${name}/token`;
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
      const answer = await operator.send(path, { method: 'POST', body });
      expect(answer.status).toBe(403);
      expect(answer.body.message).toContain('cannot create resource "serviceaccounts/token"');
    }
  });

  it('the inventory is read-only but for its status', async () => {
    const spec = { clusterRef: { name: 'lab' }, machineType: 'worker', address: '10.5.0.11' };
    const machines = `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}/talosmachines`;
    const created = await testbed.admin.send(machines, {
      method: 'POST',
      body: {
        apiVersion: 'ichor.dev/v1alpha1',
        kind: 'TalosMachine',
        metadata: { name: 'worker-1' },
        spec,
      },
    });
    expect(created.status).toBe(201);
    const patch = (path: string, body: object) =>
      operator.send(path, { method: 'PATCH', contentType: 'application/merge-patch+json', body });

    const refused = await patch(`${machines}/worker-1`, { spec: { address: '10.5.0.12' } });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('cannot patch resource "talosmachines"');
    const removed = await operator.send(`${machines}/worker-1`, { method: 'DELETE' });
    expect(removed.body.message).toContain('cannot delete resource "talosmachines"');
    const taken = await patch(`${machines}/worker-1/status`, { status: { nodeName: 'worker-1' } });
    expect(taken.status).toBe(200);
    const after = (await operator.send(`${machines}/worker-1`)).body;
    expect(after).toMatchObject({ spec, status: { nodeName: 'worker-1' } });
    await testbed.admin.send(`${machines}/worker-1`, { method: 'DELETE' });
  });

  it('nothing else was decided', async () => {
    const { items } = (await testbed.admin.send(collection)).body;
    const conditions = (items as { metadata: { name: string }; status: { conditions?: [] } }[])
      .filter(({ status }) => (status.conditions ?? []).length > 0)
      .map(({ metadata }) => metadata.name);
    expect(conditions.sort()).toEqual(['denied', 'serving']);
  });
});
