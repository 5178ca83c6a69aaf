import type { CertificateSigningRequest } from '@ichor/policy';
import { KubeError } from './kube-error.ts';
import { isKubeObject, isRecord, type KubeObject } from './kube-object.ts';
import type { DecisionCondition, ReceivedRequest } from './signing-cluster.ts';

/** The one signer whose requests are read and decided. */
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';

const decidedTypes = new Set(['Approved', 'Denied', 'Failed']);

/** Longest JSON of an undecided request that is kept whole, in characters. */
const longestKept = 131_072;
/**
 * Longest `spec.request` that is kept of a larger one. It is above the 87,384 characters of base64
 * that may be judged at all, so that what is cut off is refused for its length like the whole.
 */
const longestRequestKept = 88_000;

/** Stands for the whole of an undecided request that is too large to be kept. */
const leftOnServer = Object.freeze({ leftOnServer: true });

/**
 * What is kept of a CSR: an undecided one whole, because a decision is written by sending all of it
 * back; of a decided one what judging and recording its certificate needs. Of an undecided one that
 * is very large also only that: any node may submit some thousand requests of a megabyte each.
 */
export function receiveRequest(object: KubeObject): ReceivedRequest {
  const { name, uid, resourceVersion, creationTimestamp } = object.metadata;
  const received = {
    name,
    uid,
    resourceVersion,
    createdAt: Date.parse(creationTimestamp ?? ''),
    conditions: conditionsOf(object).map(({ type, reason, message }) => ({
      type: asText(type),
      reason: asText(reason),
      message: asText(message),
    })),
  };
  if (isDecided(object)) return { ...received, csr: trim(object), raw: undefined };
  if (JSON.stringify(object).length > longestKept) {
    return { ...received, csr: trim(object), raw: leftOnServer };
  }
  return { ...received, csr: object as unknown as CertificateSigningRequest, raw: object };
}

/** True where the object has to be read again before it can be written back. */
export function isLeftOnServer(request: ReceivedRequest): boolean {
  return request.raw === leftOnServer;
}

/**
 * The body of the PUT that writes a decision: the object as received with one condition appended.
 * `lastUpdateTime` is left to the server.
 * @throws KubeError `invalid` for a request of another signer, or one that carries a decision.
 */
export function approvalBody(request: ReceivedRequest, condition: DecisionCondition): KubeObject {
  const raw = request.raw;
  if (!isKubeObject(raw) || isDecided(raw)) {
    throw new KubeError(
      'invalid',
      `CertificateSigningRequest ${request.name} already carries a decision; it is not written to again.`,
    );
  }
  const spec = raw['spec'];
  const signerName = isRecord(spec) ? spec['signerName'] : undefined;
  if (signerName !== kubeletServingSigner) {
    throw new KubeError(
      'invalid',
      `CertificateSigningRequest ${request.name} asks the signer ${JSON.stringify(signerName)}; only ${kubeletServingSigner} is decided here.`,
    );
  }
  const status = isRecord(raw['status']) ? raw['status'] : {};
  return {
    ...raw,
    // The items of a list carry neither.
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {
      ...raw.metadata,
      name: request.name,
      uid: request.uid,
      resourceVersion: request.resourceVersion,
    },
    status: {
      ...status,
      conditions: [
        ...conditionsOf(raw),
        {
          type: condition.type,
          status: 'True',
          reason: condition.reason,
          message: condition.message,
        },
      ],
    },
  };
}

/** Whether a decision or a certificate stands on the object, so that nothing may be added. */
function isDecided(object: KubeObject): boolean {
  const status = object['status'];
  if (isRecord(status) && typeof status['certificate'] === 'string' && status['certificate'] !== '')
    return true;
  return conditionsOf(object).some(({ type }) => decidedTypes.has(asText(type)));
}

function conditionsOf(object: KubeObject): readonly Record<string, unknown>[] {
  const status = object['status'];
  const conditions = isRecord(status) ? status['conditions'] : undefined;
  return Array.isArray(conditions) ? conditions.filter(isRecord) : [];
}

function trim(object: KubeObject): CertificateSigningRequest {
  const { name, uid, deletionTimestamp } = object.metadata;
  const spec = isRecord(object['spec']) ? object['spec'] : {};
  const status = isRecord(object['status']) ? object['status'] : {};
  const { request, signerName, expirationSeconds, usages, username, groups } = spec;
  const trimmed = {
    metadata: { name, uid, ...present({ deletionTimestamp }) },
    spec: present({
      request: cut(request),
      signerName,
      expirationSeconds,
      usages,
      username,
      groups,
    }),
    status: {
      conditions: conditionsOf(object).map(({ type }) => ({ type: asText(type) })),
      ...present({ certificate: status['certificate'] }),
    },
  };
  return trimmed as CertificateSigningRequest;
}

/** A copy of its own: part of a string would keep all of it in memory. */
function cut(request: unknown): unknown {
  if (typeof request !== 'string' || request.length <= longestRequestKept) return request;
  return Buffer.from(request.slice(0, longestRequestKept), 'latin1').toString('latin1');
}

function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
