import type { ReceivedRequest, TalosCluster, TalosMachine } from '@ichor/k8s-adapter';
import { type Decision, decideCsr, machineOf, othersHolding, type Violation } from '@ichor/policy';
import { indexMachines, machinesOf } from './machine-lookup.ts';
import { identityOf, isControlPlane, type KnownMachine, reservedIn } from './node-identity.ts';
import type { ReadingState } from './node-readings.ts';

/** A reading younger than this is as good as a new one, in milliseconds. */
export const freshMs = 10_000;
/** A failed reading younger than this is not repeated for the same request, in milliseconds. */
export const failureFreshMs = 1_000;
/** A reading that another machine is held to is at most this old, in milliseconds. */
export const readAgainMs = 60_000;
/** So many other machines are read again for one decision; the rest count as last read. */
export const othersReadAgain = 8;

/** Why the operator itself leaves a request pending, beside the reasons of the policy. */
export const operatorPendingReasons = ['RequestSuperseded', 'RequestStale'] as const;

/** A reason of the operator's own. */
export type OperatorPendingReason = (typeof operatorPendingReasons)[number];

/** A decision of the policy, or a request that the operator leaves. */
export type Settlement =
  | Decision
  | {
      readonly kind: 'pending';
      readonly reason: OperatorPendingReason;
      readonly detail: string;
      readonly violations?: readonly Violation[];
    };

/** A machine with everything that is known about it. */
export interface ReadMachine extends KnownMachine {
  readonly state: ReadingState;
}

/** All that a decision about one request looks at. Times are milliseconds since the epoch. */
export interface DecisionSnapshot {
  readonly request: ReceivedRequest;
  readonly firstSeenAt: number;
  /** When the cluster or one of its machines last changed, in the inventory. */
  readonly changedAt: number;
  /** When this try to decide began. */
  readonly attemptAt: number;
  readonly now: number;
  readonly cluster: TalosCluster;
  readonly machines: readonly ReadMachine[];
  /** URL of the API server. */
  readonly server: string;
  /** Names of the machines that were read in this attempt. */
  readonly readInAttempt: ReadonlySet<string>;
}

/** What to do next about a request. */
export type DecisionStep =
  /** Read these machines, then plan again. */
  | { readonly kind: 'read'; readonly machines: readonly TalosMachine[] }
  | {
      readonly kind: 'settled';
      readonly settlement: Settlement;
      /** The machine that the request is about, all that share its node name, or none. */
      readonly about: readonly TalosMachine[];
      /** Machines whose facts must be kept in their status before an approval is written. */
      readonly restsOn: readonly TalosMachine[];
    };

/**
 * The next step towards the decision about one request.
 *
 * What needs no identity is decided first, so that a bad request never costs a call to a node. The
 * identity is read in this attempt or is at most ten seconds old. Before a denial that rests on
 * another machine, and before a conflict is said, the machines concerned are read again.
 */
export function planDecision(snapshot: DecisionSnapshot): DecisionStep {
  const { request, machines } = snapshot;
  const index = indexMachines(machines);
  const target = machineOf(request.csr, (nodeName) => index.byNodeName(nodeName).kind !== 'none');
  if (target.kind === 'none') {
    return settled(decideCsr(request.csr, { kind: 'unmanaged' }), []);
  }
  const { nodeName } = target;
  const { maxExpirationSeconds } = snapshot.cluster.spec.servingCertificates;
  const withoutIdentity = decideCsr(
    request.csr,
    { kind: 'notRead', nodeName },
    maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds },
  );
  const found = index.byNodeName(nodeName);
  const about = machinesOf(found);
  if (withoutIdentity.kind !== 'pending' || withoutIdentity.reason !== 'NodeUnreadable') {
    return settled(withoutIdentity, about);
  }
  if (found.kind === 'conflict') return sharedName(snapshot, nodeName, about);
  const [machine] = about;
  if (machine === undefined) {
    return settled(decideCsr(request.csr, { kind: 'unmanaged' }), []);
  }
  return withIdentity(snapshot, machine, nodeName);
}

function withIdentity(
  snapshot: DecisionSnapshot,
  machine: TalosMachine,
  nodeName: string,
): DecisionStep {
  const { request, cluster, machines, server } = snapshot;
  const own = machines.find((known) => known.machine.uid === machine.uid);
  if (own === undefined || !isFresh(snapshot, own)) return { kind: 'read', machines: [machine] };

  const unreadable = (cause: string) =>
    settled(decideCsr(request.csr, { kind: 'unreadable', nodeName, cause }), [machine]);
  if (own.state.failure !== undefined || own.facts === undefined) {
    return unreadable(own.state.failure ?? 'the machine has not been read');
  }
  const reserved = reservedIn(cluster, machines, server);
  if (reserved.kind === 'unknown') {
    const controlPlanes = reserved.unreadControlPlanes
      ? machines.filter((known) => isControlPlane(known.machine))
      : [];
    const again = toReadAgain(snapshot, controlPlanes, (known) => !isFresh(snapshot, known));
    return again.length > 0 ? { kind: 'read', machines: again } : unreadable(reserved.cause);
  }

  const { identity, options } = identityOf(
    machine,
    own.facts,
    cluster,
    machines,
    reserved.reserved,
  );
  const decision = decideCsr(request.csr, { kind: 'read', identity }, options);
  const names = othersHolding(identity, decision);
  const concerned = machines.filter((known) => names.includes(known.machine.name));
  const again = toReadAgain(snapshot, concerned, (known) => !isReadAgain(snapshot, known));
  if (again.length > 0) return { kind: 'read', machines: again };
  return {
    kind: 'settled',
    settlement: decision,
    about: [machine],
    restsOn: machines
      .map((known) => known.machine)
      .filter((other) => other.uid === machine.uid || isControlPlane(other)),
  };
}

function sharedName(
  snapshot: DecisionSnapshot,
  nodeName: string,
  sharing: readonly TalosMachine[],
): DecisionStep {
  const concerned = snapshot.machines.filter(({ machine }) =>
    sharing.some(({ uid }) => uid === machine.uid),
  );
  const again = toReadAgain(snapshot, concerned, (known) => !isReadAgain(snapshot, known));
  if (again.length > 0) return { kind: 'read', machines: again };
  return settled(
    {
      kind: 'pending',
      reason: 'IdentityConflict',
      detail: `The node name ${nodeName} is that of more than one machine: ${sharing.map(({ name }) => name).join(', ')}.`,
    },
    sharing,
  );
}

function settled(settlement: Settlement, about: readonly TalosMachine[]): DecisionStep {
  return { kind: 'settled', settlement, about, restsOn: [] };
}

function toReadAgain(
  { readInAttempt }: DecisionSnapshot,
  concerned: readonly ReadMachine[],
  wanted: (known: ReadMachine) => boolean,
): readonly TalosMachine[] {
  return concerned
    .filter((known) => !readInAttempt.has(known.machine.name) && wanted(known))
    .slice(0, Math.max(0, othersReadAgain - readInAttempt.size))
    .map(({ machine }) => machine);
}

/** A reading good enough to decide with: of this attempt, or young. */
function isFresh(
  { attemptAt, firstSeenAt, changedAt, now, readInAttempt }: DecisionSnapshot,
  known: ReadMachine,
): boolean {
  const { triedAt, failure } = known.state;
  if (triedAt === undefined) return readInAttempt.has(known.machine.name);
  if (triedAt >= attemptAt || readInAttempt.has(known.machine.name)) return true;
  if (failure === undefined) return now - triedAt < freshMs;
  // A node must not be held to what failed before it asked, or before somebody mended it.
  return triedAt >= Math.max(firstSeenAt, changedAt) && now - triedAt < failureFreshMs;
}

/**
 * A reading, or a try of one, that began after the request was first seen, or is young. A request
 * that has waited for long is not held to what another machine said when it began to wait.
 */
function isReadAgain({ firstSeenAt, now }: DecisionSnapshot, { state }: ReadMachine): boolean {
  const { triedAt } = state;
  if (triedAt === undefined) return false;
  const age = now - triedAt;
  return age < freshMs || (triedAt >= firstSeenAt && age < readAgainMs);
}
