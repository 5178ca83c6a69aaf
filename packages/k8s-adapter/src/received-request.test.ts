import { parseCsr } from '@ichor/policy';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from './kube-object.ts';
import { approvalBody, isLeftOnServer, receiveRequest } from './received-request.ts';

const spec = {
  request: 'cGVt',
  signerName: 'kubernetes.io/kubelet-serving',
  expirationSeconds: 3600,
  usages: ['digital signature', 'server auth'],
  username: 'system:node:worker-1',
  uid: 'user-uid',
  groups: ['system:nodes'],
  extra: { key: ['value'] },
};
const metadata = {
  name: 'csr-a',
  uid: 'u',
  resourceVersion: '7',
  creationTimestamp: '2026-01-02T03:04:05Z',
  labels: { a: 'b' },
  managedFields: [{ manager: 'kubelet' }],
};
/** As a list brings it: without kind and version, with a field that nobody knows. */
const pending: KubeObject = { metadata, spec, status: {}, future: { field: 1 } };
const withConditions = (...types: string[]): KubeObject => ({
  ...pending,
  status: {
    conditions: types.map((type) => ({ type, status: 'True', reason: 'R', message: 'M' })),
  },
});
const approval = { type: 'Approved', reason: 'Reason', message: 'Message' } as const;

describe('a request as it is received', () => {
  it('is kept whole while it is undecided', () => {
    expect(receiveRequest(pending)).toEqual({
      name: 'csr-a',
      uid: 'u',
      resourceVersion: '7',
      createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
      csr: pending,
      conditions: [],
      raw: pending,
    });
  });

  it.each(['Approved', 'Denied', 'Failed'])('is kept trimmed once it is %s', (type) => {
    const received = receiveRequest(withConditions(type));
    expect(received.raw).toBeUndefined();
    expect(received.conditions).toEqual([{ type, reason: 'R', message: 'M' }]);
    const { uid: _, extra: __, ...kept } = spec;
    expect(received.csr).toEqual({
      metadata: { name: 'csr-a', uid: 'u' },
      spec: kept,
      status: { conditions: [{ type }] },
    });
  });

  it('counts as decided where it has a certificate, and as undecided with other conditions', () => {
    const issued = { ...pending, status: { certificate: 'Y2VydA==' } };
    expect(receiveRequest(issued)).toMatchObject({
      raw: undefined,
      csr: { status: { certificate: 'Y2VydA==' } },
    });
    expect(receiveRequest({ ...pending, status: { certificate: '' } }).raw).toBeDefined();
    expect(receiveRequest(withConditions('Custom')).raw).toBeDefined();
  });

  it('keeps that it is being deleted', () => {
    const deletionTimestamp = '2026-01-02T03:04:06Z';
    const deleted = { ...withConditions('Approved'), metadata: { ...metadata, deletionTimestamp } };
    expect(receiveRequest(deleted).csr.metadata?.deletionTimestamp).toBe(deletionTimestamp);
  });

  it.each<[string, KubeObject]>([
    ['nothing else', { metadata }],
    ['fields of other types', { metadata, spec: 'x', status: 7 }],
    ['conditions that are none', { metadata, spec, status: { conditions: [null, 'x', {}] } }],
    ['conditions of another type', { metadata, spec, status: { conditions: 'x' } }],
  ])('with %s is received without an exception', (_name, object) => {
    expect(receiveRequest(object)).toMatchObject({ name: 'csr-a', resourceVersion: '7' });
  });
});

describe('a very large request', () => {
  const large = { ...pending, spec: { ...spec, request: 'A'.repeat(1_200_000) } };

  it('is not kept whole, and is still refused for its length', () => {
    const received = receiveRequest(large);
    expect(isLeftOnServer(received)).toBe(true);
    expect(JSON.stringify(received).length).toBeLessThan(100_000);
    expect(parseCsr(received.csr.spec.request ?? '')).toEqual(parseCsr(large.spec.request));
    expect(received.csr).toMatchObject({ spec: { username: spec.username, usages: spec.usages } });
  });

  it('is one whose metadata are large, too, and its bytes are all kept then', () => {
    const annotations = { a: 'x'.repeat(200_000) };
    const received = receiveRequest({ ...pending, metadata: { ...metadata, annotations } });
    expect(isLeftOnServer(received)).toBe(true);
    expect(received.csr.spec.request).toBe(spec.request);
  });

  it('is not the largest one that may be approved', () => {
    const largest = { ...pending, spec: { ...spec, request: 'A'.repeat(87_384) } };
    expect(receiveRequest(largest)).toMatchObject({ raw: largest, csr: largest });
  });

  it('that is decided has its bytes cut', () => {
    const decided = receiveRequest({ ...withConditions('Denied'), spec: large.spec });
    expect(decided.csr.spec.request).toHaveLength(88_000);
    expect(decided.raw).toBeUndefined();
  });
});

describe('the body of a decision', () => {
  it('is the object as received with one condition more', () => {
    const body = approvalBody(receiveRequest(withConditions('Custom')), approval);
    expect(body).toEqual({
      ...pending,
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      status: {
        conditions: [
          { type: 'Custom', status: 'True', reason: 'R', message: 'M' },
          { ...approval, status: 'True' },
        ],
      },
    });
  });

  it('carries the version that was judged, and does not change what was received', () => {
    const received = receiveRequest(pending);
    const before = structuredClone(pending);
    const body = approvalBody({ ...received, resourceVersion: '5' }, approval);
    expect(body.metadata).toMatchObject({ resourceVersion: '5', uid: 'u', labels: { a: 'b' } });
    expect(pending).toEqual(before);
  });

  it.each([
    'kubernetes.io/kube-apiserver-client-kubelet',
    'kubernetes.io/kubelet-serving ',
    'Kubernetes.io/kubelet-serving',
    undefined,
  ])('is refused for the signer %j', (signerName) => {
    const other = receiveRequest({ ...pending, spec: { ...spec, signerName } });
    expect(() => approvalBody(other, approval)).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: expect.stringContaining('only kubernetes.io/kubelet-serving is decided here'),
      }),
    );
  });

  it.each(['Approved', 'Denied', 'Failed'])('is refused where %s stands already', (type) => {
    const decided = { ...receiveRequest(pending), raw: withConditions(type) };
    for (const request of [decided, receiveRequest(withConditions(type))]) {
      expect(() => approvalBody(request, approval)).toThrow('already carries a decision');
    }
  });
});
