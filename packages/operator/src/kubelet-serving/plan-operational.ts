import { reservedIn } from './node-identity.ts';
import type { ClusterView } from './observe.ts';
import type { OperationalState } from './plan-conditions.ts';
import type { ReadMachine } from './plan-decision.ts';

/** What tells whether the operator can do its work for a cluster. */
export interface OperationalSnapshot {
  readonly view: ClusterView;
  readonly machines: readonly ReadMachine[];
  /** URL of the API server. */
  readonly server: string;
  /** Whether its requests have been listed. */
  readonly synced: boolean;
  /** Why they could not be, where something is known. */
  readonly watchFailure: string | undefined;
  /** What the API server said when it refused the last decision, where it did. */
  readonly refused: string | undefined;
}

/** Whether requests are decided, and what to do where they are not. The first that applies counts. */
export function planOperational(snapshot: OperationalSnapshot): OperationalState {
  const { view, machines, server, refused } = snapshot;
  const { blocked, notice, cluster } = view;
  if (blocked !== undefined) return blocked;
  if (refused !== undefined) {
    return failing(
      'ApiServerRefuses',
      `${refused} Apply the output of 'ichor manifests --only crds,rbac'.`,
    );
  }
  if (!snapshot.synced) {
    const cause = snapshot.watchFailure ?? 'the first list is on its way';
    return failing(
      'ApiServerUnreachable',
      `The requests at ${server} are not listed yet: ${cause}`,
    );
  }
  if (notice !== undefined) return notice;
  const reserved = reservedIn(cluster, machines, server);
  if (reserved.kind === 'unknown') {
    return failing('ReservedRangesUnknown', `Nothing is approved: ${reserved.cause}.`);
  }
  if (cluster.spec.kubernetes.endpoint === undefined) {
    return {
      status: 'True',
      reason: 'EndpointNotStated',
      message: `Requests are decided, with ${server} taken for the control-plane endpoint. Set spec.kubernetes.endpoint, so that its host is reserved.`,
    };
  }
  return { status: 'True', reason: 'Deciding', message: 'Requests are decided.' };
}

function failing(reason: OperationalState['reason'], message: string): OperationalState {
  return { status: 'False', reason, message };
}
