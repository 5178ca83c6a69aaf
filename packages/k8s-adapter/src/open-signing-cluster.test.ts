import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSigningCluster } from './open-signing-cluster.ts';
import { receiveRequest } from './received-request.ts';
import type { SigningCluster } from './signing-cluster.ts';
import {
  failure,
  json,
  ScriptedApiServer,
  silence,
  stream,
} from './testing/loopback/scripted-api-server.ts';

const object = {
  metadata: { name: 'csr-a', uid: 'u', resourceVersion: '7' },
  spec: { signerName: 'kubernetes.io/kubelet-serving', request: 'cGVt', novelty: ['kept'] },
  status: {},
};
const approval = { type: 'Approved', reason: 'Reason', message: 'Message' } as const;
const conflict = failure(409, 'the object has been modified', 'Conflict');
const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

let server: ScriptedApiServer;
let cluster: SigningCluster;

beforeEach(async () => {
  server = await ScriptedApiServer.start();
  server.lists = [json({ metadata: { resourceVersion: '9' }, items: [object] })];
  server.watches = [stream()];
  cluster = openSigningCluster(server.connect({ attempts: 1, requestTimeoutMs: 2000 }));
});

afterEach(async () => {
  cluster.close();
  await server.stop();
});

const writes = () => server.requests.filter(({ method }) => method !== 'GET');

describe('the requests', () => {
  it('are those of the one signer', async () => {
    const [list, watch] = await server.arrived(2);
    for (const request of [list, watch]) {
      expect(request?.url.pathname).toBe(path);
      expect(request?.url.searchParams.get('fieldSelector')).toBe(
        'spec.signerName=kubernetes.io/kubelet-serving',
      );
    }
    expect(cluster.requests.list().map(({ name }) => name)).toEqual(['csr-a']);
  });
});

describe('a decision', () => {
  it('is one PUT of the whole object, fields that nobody knows included', async () => {
    server.others = [json({})];
    expect(await cluster.writeDecision(receiveRequest(object), approval)).toBe('written');
    expect(writes()).toHaveLength(1);
    const [put] = writes();
    expect(put).toMatchObject({ method: 'PUT', url: { pathname: `${path}/csr-a/approval` } });
    expect(JSON.parse(put?.body ?? '')).toEqual({
      ...object,
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      status: { conditions: [{ ...approval, status: 'True' }] },
    });
  });

  it('is a conflict where the same object has another version', async () => {
    const newer = { ...object, metadata: { ...object.metadata, resourceVersion: '8' } };
    server.others = [conflict, json(newer)];
    expect(await cluster.writeDecision(receiveRequest(object), approval)).toBe('conflict');
  });

  it('finds the object gone where another one has its name, or none', async () => {
    const successor = { ...object, metadata: { ...object.metadata, uid: 'another' } };
    server.others = [conflict, json(successor)];
    expect(await cluster.writeDecision(receiveRequest(object), approval)).toBe('gone');
    server.others = [conflict, failure(404, 'not found', 'NotFound')];
    expect(await cluster.writeDecision(receiveRequest(object), approval)).toBe('gone');
    server.others = [failure(404, 'not found', 'NotFound')];
    expect(await cluster.writeDecision(receiveRequest(object), approval)).toBe('gone');
  });

  it('is a conflict where it cannot be seen which of the two it is', async () => {
    for (const answer of [failure(500, 'no'), json('text')]) {
      server.others = [conflict, answer];
      expect(await cluster.writeDecision(receiveRequest(object), approval)).toBe('conflict');
    }
  });

  it('that is refused says which request and why', async () => {
    server.others = [
      failure(403, 'user not permitted to approve requests with signerName', 'Forbidden'),
    ];
    await expect(cluster.writeDecision(receiveRequest(object), approval)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(
        /^Writing the decision on CertificateSigningRequest csr-a failed with HTTP 403: user not permitted/,
      ),
    });
  });

  it('of another signer never leaves the program', async () => {
    const spec = { ...object.spec, signerName: 'kubernetes.io/kube-apiserver-client' };
    const other = receiveRequest({ ...object, spec });
    await expect(cluster.writeDecision(other, approval)).rejects.toMatchObject({ code: 'invalid' });
    expect(writes()).toEqual([]);
  });

  it('stays in the path that it is meant for, whatever the name is', async () => {
    server.others = [json({})];
    const name = '../../x?dryRun=All#';
    const odd = receiveRequest({ ...object, metadata: { ...object.metadata, name } });
    await cluster.writeDecision(odd, approval);
    expect(writes()[0]?.url.pathname).toBe(`${path}/..%2F..%2Fx%3FdryRun%3DAll%23/approval`);
    expect(writes()[0]?.url.search).toBe('');
  });

  it('is not sent twice where the answer does not come', async () => {
    server.others = [silence];
    const slow = openSigningCluster(server.connect({ requestTimeoutMs: 400 }));
    await expect(slow.writeDecision(receiveRequest(object), approval)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(writes()).toHaveLength(1);
    slow.close();
  });
});

describe('a decision on a request that is too large to be kept', () => {
  const large = { ...object, spec: { ...object.spec, request: 'A'.repeat(300_000) } };
  const denial = { type: 'Denied', reason: 'RequestMalformed', message: 'too long' } as const;

  it('reads it again and writes it back whole', async () => {
    server.others = [json(large), json({})];
    expect(await cluster.writeDecision(receiveRequest(large), denial)).toBe('written');
    const body = JSON.parse(writes()[0]?.body ?? '');
    expect(body.spec).toEqual(large.spec);
    expect(body.status.conditions).toEqual([{ ...denial, status: 'True' }]);
  });

  it.each([
    [
      'conflict',
      'has another version',
      json({ ...large, metadata: { ...large.metadata, resourceVersion: '8' } }),
    ],
    ['gone', 'is another one', json({ ...large, metadata: { ...large.metadata, uid: 'x' } })],
    ['gone', 'is deleted', failure(404, 'not found', 'NotFound')],
  ] as const)(
    'is a %s where what is stored %s, and nothing is written',
    async (outcome, _n, answer) => {
      server.others = [answer];
      expect(await cluster.writeDecision(receiveRequest(large), denial)).toBe(outcome);
      expect(writes()).toEqual([]);
    },
  );

  it('of another signer never leaves the program', async () => {
    const spec = { ...large.spec, signerName: 'kubernetes.io/kube-apiserver-client' };
    server.others = [json({ ...large, spec })];
    const other = receiveRequest({ ...large, spec });
    await expect(cluster.writeDecision(other, denial)).rejects.toMatchObject({ code: 'invalid' });
    expect(writes()).toEqual([]);
  });
});

describe('the uid of the cluster', () => {
  it('is that of kube-system', async () => {
    server.others = [json({ metadata: { name: 'kube-system', uid: 'the uid' } })];
    expect(await cluster.readClusterUid()).toBe('the uid');
    expect(server.requests.at(-1)?.url.pathname).toBe('/api/v1/namespaces/kube-system');
  });

  it.each([
    ['forbidden', failure(403, 'no', 'Forbidden')],
    ['unavailable', json({ metadata: {} })],
  ] as const)('that cannot be read is %s', async (code, answer) => {
    server.others = [answer];
    await expect(cluster.readClusterUid()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/^Reading the namespace kube-system failed/),
    });
  });
});
