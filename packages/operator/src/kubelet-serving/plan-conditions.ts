import type { ClusterStatusApply, Condition, TalosCluster } from '@ichor/k8s-adapter';
import { rfc3339 } from '../runtime/rfc3339.ts';

/** What one machine contributes to the state of the cluster. */
export interface MachineProgress {
  readonly name: string;
  readonly state: /** It has an unexpired certificate; `unverified` says what a person let through. */
    | {
        readonly kind: 'certified';
        readonly notAfter: number;
        readonly unverified: string | undefined;
      }
    | { readonly kind: 'outside'; readonly detail: string }
    | { readonly kind: 'expired'; readonly notAfter: string }
    | { readonly kind: 'pending'; readonly request: string; readonly reason: string }
    | { readonly kind: 'denied'; readonly request: string; readonly reason: string }
    | { readonly kind: 'approved'; readonly request: string }
    | { readonly kind: 'unreadable'; readonly cause: string }
    | { readonly kind: 'waiting' };
}

/** Whether the operator can do its work for a cluster; False says what to do. */
export interface OperationalState {
  readonly status: 'True' | 'False';
  readonly reason: OperationalReason;
  readonly message: string;
}

/** Reasons of the condition `Operational`. A public interface: never renamed. */
export const operationalReasons = [
  'Deciding',
  'EndpointNotStated',
  'ReservedRangesUnknown',
  'SharedApiServer',
  'InvalidObject',
  'TalosCredentialsUnusable',
  'KubernetesCredentialsUnusable',
  'ApiServerUnreachable',
  'ApiServerRefuses',
] as const;

/** A reason of the condition `Operational`. */
export type OperationalReason = (typeof operationalReasons)[number];

/** Reasons of the condition `KubeletServingCertificates`. A public interface: never renamed. */
export const certificatesReasons = [
  'AllMachinesCertified',
  'MachinesWaiting',
  'IssuedOutsideIdentity',
  'NoMachines',
] as const;

/** A reason of the condition `KubeletServingCertificates`. */
export type CertificatesReason = (typeof certificatesReasons)[number];

/** So many machines are named in a message; the others are counted. */
const namedMachines = 10;

/**
 * The status of a cluster. With the option off there are no conditions at all.
 *
 * @param now milliseconds since the epoch
 */
export function planClusterStatus(
  cluster: TalosCluster,
  machines: readonly MachineProgress[],
  operational: OperationalState,
  now: number,
): ClusterStatusApply {
  const certified = machines.filter(({ state }) => state.kind === 'certified').length;
  const status = {
    observedGeneration: cluster.generation,
    machines: { total: machines.length, certified },
  };
  if (!cluster.spec.servingCertificates.enabled) return { ...status, conditions: [] };
  const stamp = stamper(cluster, now);
  return {
    ...status,
    conditions: [
      stamp({ type: 'KubeletServingCertificates', ...certificatesCondition(machines) }),
      stamp({ type: 'Operational', ...operational }),
    ],
  };
}

function certificatesCondition(machines: readonly MachineProgress[]): {
  status: 'True' | 'False';
  reason: CertificatesReason;
  message: string;
} {
  if (machines.length === 0) {
    return {
      status: 'False',
      reason: 'NoMachines',
      message: 'The cluster has no TalosMachine. Create one for each node.',
    };
  }
  const waiting = machines.filter(({ state }) => state.kind !== 'certified');
  if (waiting.length === 0) {
    const noted = machines.flatMap(({ name, state }) =>
      state.kind === 'certified' && state.unverified !== undefined
        ? [`${name}: approved by hand with a name that is not verified (${state.unverified})`]
        : [],
    );
    return {
      status: 'True',
      reason: 'AllMachinesCertified',
      message: [
        `All ${machines.length} machines have an unexpired serving certificate.`,
        ...capped(noted),
      ].join(' '),
    };
  }
  // What must not stay unseen is named first.
  const urgent = [...waiting].sort((a, b) => urgency(a) - urgency(b));
  return {
    status: 'False',
    reason: waiting.some(({ state }) => state.kind === 'outside')
      ? 'IssuedOutsideIdentity'
      : 'MachinesWaiting',
    message: `${waiting.length} of ${machines.length} machines have no serving certificate: ${capped(
      urgent.map(({ name, state }) => `${name} (${waitingText(state)})`),
    ).join(', ')}`,
  };
}

function urgency({ state }: MachineProgress): number {
  return state.kind === 'outside' ? 0 : state.kind === 'denied' ? 1 : 2;
}

function waitingText(state: MachineProgress['state']): string {
  switch (state.kind) {
    case 'certified':
      return 'issued';
    case 'outside':
      return `a certificate was issued outside its identity, revoke what approved it: ${state.detail}`;
    case 'expired':
      return `its certificate expired at ${state.notAfter}`;
    case 'pending':
      return `request ${state.request} is pending: ${state.reason}`;
    case 'denied':
      return `request ${state.request} was denied: ${state.reason}`;
    case 'approved':
      return `request ${state.request} is approved but not issued`;
    case 'unreadable':
      return `cannot be read: ${state.cause}`;
    case 'waiting':
      return 'waiting for its request';
  }
}

function capped(sentences: readonly string[]): string[] {
  const shown = sentences
    .slice(0, namedMachines)
    .map((s) => (s.length > 500 ? `${s.slice(0, 499)}…` : s));
  const more = sentences.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

/** Keeps the transition time of a condition whose status did not change. (metav1.Condition) */
function stamper(cluster: TalosCluster, now: number) {
  return (condition: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>): Condition => {
    const before = cluster.status.conditions.find(({ type }) => type === condition.type);
    return {
      ...condition,
      lastTransitionTime:
        before?.status === condition.status ? before.lastTransitionTime : rfc3339(now),
      observedGeneration: cluster.generation,
    };
  };
}
