import type { ReceivedRequest } from '@ichor/k8s-adapter';
import type { Settlement } from './plan-decision.ts';

/** A kubelet waits so long for its certificate, then its key is gone; in milliseconds. */
export const staleMs = 15 * 60_000;

/** The newest creation time per authenticated user, decided requests included. */
export type NewestByUser = ReadonlyMap<string, number>;

/** Finds each user's newest request. Names inside a request count for nothing here. */
export function newestByUser(requests: readonly ReceivedRequest[]): NewestByUser {
  const newest = new Map<string, number>();
  for (const { csr, createdAt } of requests) {
    const user = csr.spec.username ?? '';
    newest.set(user, Math.max(createdAt, newest.get(user) ?? createdAt));
  }
  return newest;
}

/** True where the user of a request has made a strictly newer one, decided or not. */
export function isSuperseded(
  request: ReceivedRequest,
  requests: readonly ReceivedRequest[],
): boolean {
  const { username } = request.csr.spec;
  return requests.some(
    (other) => other.createdAt > request.createdAt && other.csr.spec.username === username,
  );
}

/**
 * Why a request is left though nobody decided it: its user has made a strictly newer one, or it is
 * older than a kubelet waits. The key of such a request is gone; approving it burns a signature.
 *
 * @param serverTime the API server's clock in milliseconds since the epoch, where it is known
 */
export function reasonToLeave(
  request: ReceivedRequest,
  newest: NewestByUser,
  serverTime: number | undefined,
): Settlement | undefined {
  if (request.createdAt < (newest.get(request.csr.spec.username ?? '') ?? 0)) {
    return {
      kind: 'pending',
      reason: 'RequestSuperseded',
      detail: 'The same user has made a newer request since.',
    };
  }
  if (serverTime !== undefined && serverTime - request.createdAt > staleMs) {
    return {
      kind: 'pending',
      reason: 'RequestStale',
      detail: 'The request is older than a kubelet waits for its certificate (15 minutes).',
    };
  }
  return undefined;
}

/** True while nobody has decided, issued, failed or begun to delete the request. */
export function isUndecided({ csr }: ReceivedRequest): boolean {
  const conditions = csr.status?.conditions ?? [];
  return (
    !conditions.some(({ type }) => type === 'Approved' || type === 'Denied' || type === 'Failed') &&
    (csr.status?.certificate ?? '') === '' &&
    (csr.metadata?.deletionTimestamp ?? undefined) === undefined
  );
}
