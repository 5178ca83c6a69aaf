import {
  type Inventory,
  KubeError,
  type ReceivedRequest,
  type SigningCluster,
  type TalosMachine,
} from '@ichor/k8s-adapter';
import { nodeNameOf } from '@ichor/policy';
import type { TalosClient } from '@ichor/talos-client';
import type { Clock } from '../runtime/clock.ts';
import { errorText } from '../runtime/error-text.ts';
import type { Logger } from '../runtime/logger.ts';
import { Semaphore } from '../runtime/semaphore.ts';
import { actOn, reportSettlement } from './act.ts';
import { ClusterStatusWriter } from './cluster-status-writer.ts';
import { IssuedRequests } from './issued-requests.ts';
import { indexMachines, type MachineIndex, machinesOf } from './machine-lookup.ts';
import { MachineStatuses } from './machine-statuses.ts';
import { NodeReadings } from './node-readings.ts';
import { type ClusterView, observeMachines } from './observe.ts';
import { type MachineProgress, planClusterStatus } from './plan-conditions.ts';
import { type DecisionStep, planDecision, type ReadMachine } from './plan-decision.ts';
import { planOperational } from './plan-operational.ts';
import { planProgress } from './plan-progress.ts';
import { planReadings, readingsAtOnce } from './plan-readings.ts';
import { isSuperseded, isUndecided, newestByUser, reasonToLeave } from './plan-requests.ts';
import { isRepeat, planTurns } from './plan-turns.ts';
import { putOff, type RequestTrack, RequestTracks } from './request-tracks.ts';

/** What one cluster's reconciler works with. */
export interface ReconcilerPorts {
  readonly inventory: Pick<Inventory, 'applyClusterStatus' | 'applyMachineStatus' | 'recordEvent'>;
  readonly signing: SigningCluster;
  /** The client to ask machines with; called for each reading. */
  readonly talos: () => TalosClient;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly logger: Logger;
}

/** A pass that failed is tried again after this, in milliseconds. */
const retryMs = 2_000;
/** Failures of a write that repeating it does not mend. */
const refusals: ReadonlySet<string> = new Set(['forbidden', 'invalid']);
/** Passes are at least this far apart, so that a burst of events is one pass; in milliseconds. */
const passGapMs = 10;

/**
 * Decides the kubelet serving requests of one cluster: observe, plan, act.
 *
 * A pass looks at everything and starts what is due; decisions and readings then run side by side,
 * and each one that ends calls for the next pass. Nothing but the API holds state that matters.
 */
export class KubeletServingReconciler {
  readonly #ports: ReconcilerPorts;
  readonly #readings: NodeReadings;
  readonly #statuses: MachineStatuses;
  readonly #issued: IssuedRequests;
  readonly #clusterStatus: ClusterStatusWriter;
  readonly #tracks = new RequestTracks();
  readonly #servedAt = new Map<string, number>();
  readonly #jitter = new Map<string, number>();
  readonly #room = new Semaphore(readingsAtOnce);
  readonly #running = new Set<Promise<void>>();
  readonly #unsubscribe: () => void;
  #view: ClusterView;
  /** Grows with every change of the inventory that a decision may rest on. */
  #viewVersion = 0;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** Grows with everything by which the names of issued certificates are judged. */
  #basis = 0;
  #refused: string | undefined;
  #watchFailure: string | undefined;
  #cancelPass: (() => void) | undefined;
  #passAt = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(ports: ReconcilerPorts, view: ClusterView) {
    this.#ports = ports;
    this.#view = view;
    this.#readings = new NodeReadings(ports.talos, ports.clock, (machine, state) => {
      if (state.facts !== undefined && state.failure === undefined) {
        this.#statuses.putFacts(machine, state.facts);
      }
      this.#basis += 1;
      this.#wake();
    });
    this.#statuses = new MachineStatuses(ports.inventory, ports.clock, (machine, error) => {
      ports.logger.warn('the status of a TalosMachine could not be written; trying again', {
        machine: machine.name,
        error: errorText(error),
      });
      this.#wake();
    });
    this.#issued = new IssuedRequests(this.#statuses, (request, detail) =>
      ports.logger.warn('an issued certificate does not count', { request: request.name, detail }),
    );
    this.#clusterStatus = new ClusterStatusWriter(ports.inventory, ports.clock, (error) => {
      if (error !== undefined) {
        ports.logger.warn('the status of the TalosCluster could not be written; trying again', {
          error: errorText(error),
        });
      }
      this.#wake();
    });
    this.#unsubscribe = ports.signing.requests.subscribe((change) => {
      this.#watchFailure = change.kind === 'failed' ? change.message : undefined;
      if (change.kind === 'failed')
        ports.logger.warn('watching requests', { error: change.message });
      this.#wake();
    });
    this.#wake();
  }

  /** Takes over what the inventory says now. */
  update(view: ClusterView): void {
    const before = this.#view;
    const changed =
      before.cluster.generation !== view.cluster.generation ||
      before.blocked?.reason !== view.blocked?.reason ||
      machineKey(before.machines) !== machineKey(view.machines);
    this.#view = view;
    // The status of a TalosMachine is our own writing: it wakes nothing.
    if (!changed && before.notice?.message === view.notice?.message) return;
    if (changed) {
      this.#viewVersion += 1;
      this.#changedAt = this.#ports.clock.now();
      this.#basis += 1;
      this.#tracks.tryAllAgain(this.#ports.clock.now());
    }
    this.#readings.keepOnly(view.machines);
    this.#statuses.keepOnly(view.machines);
    const uids = new Set(view.machines.map(({ uid }) => uid));
    for (const uid of this.#jitter.keys()) if (!uids.has(uid)) this.#jitter.delete(uid);
    this.#wake();
  }

  /** Ends all work. Resolves when no write of this reconciler can happen any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelPass?.();
    this.#unsubscribe();
    await Promise.allSettled(this.#running);
    await this.#statuses.close();
  }

  #wake(inMs = passGapMs): void {
    if (this.#stopped) return;
    const at = this.#ports.clock.now() + inMs;
    if (at >= this.#passAt) return;
    this.#cancelPass?.();
    this.#passAt = at;
    this.#cancelPass = this.#ports.clock.after(inMs, () => {
      this.#passAt = Number.POSITIVE_INFINITY;
      this.#cancelPass = undefined;
      if (this.#stopped) return;
      try {
        this.#pass();
      } catch (error) {
        // A fault of ours must not end the loop; the next pass looks at everything again.
        this.#ports.logger.error('a pass failed', { error: errorText(error) });
        this.#wake(retryMs);
      }
    });
  }

  #pass(): void {
    const { clock, signing } = this.#ports;
    const now = clock.now();
    const machines = observeMachines(this.#view, this.#readings);
    const requests = signing.requests.list();
    const index = indexMachines(machines);
    this.#tracks.observe(requests.filter(isUndecided), now);

    const readings = planReadings(machines, now, (machine) => this.#jitterOf(machine));
    for (const machine of readings.due) void this.#track(this.#readings.read(machine, this.#room));
    this.#wakeIn(readings.nextInMs);

    const gateOpen =
      this.#view.blocked === undefined &&
      signing.requests.synced() &&
      machines.every(({ state }) => state.triedAt !== undefined);
    if (gateOpen) this.#startDecisions(requests, index, now);

    const progress = this.#progress(requests, machines, index);
    this.#wakeIn(this.#statuses.retry(this.#view.machines));
    // An older generation's decision may still be written: what the status says must be true.
    const { cluster } = this.#view;
    const outdated = this.#tracks
      .all()
      .some(({ running }) => running !== undefined && running.generation < cluster.generation);
    // Before the first list there is nothing to say yet, unless it fails.
    const speechless = !signing.requests.synced() && this.#watchFailure === undefined;
    if (outdated || speechless) return;
    const operational = planOperational({
      view: this.#view,
      machines,
      server: signing.server,
      synced: signing.requests.synced(),
      watchFailure: this.#watchFailure,
      refused: this.#refused,
    });
    const status = planClusterStatus(cluster, progress, operational, now);
    void this.#track(this.#clusterStatus.write(cluster.name, status));
    this.#wakeIn(this.#clusterStatus.retryInMs());
  }

  #progress(
    requests: readonly ReceivedRequest[],
    machines: readonly ReadMachine[],
    index: MachineIndex,
  ): readonly MachineProgress[] {
    const { signing, clock } = this.#ports;
    const now = signing.serverTime() ?? clock.now();
    const issued = this.#issued.observe({
      requests,
      machines,
      index,
      cluster: this.#view.cluster,
      server: signing.server,
      basis: `${this.#basis}`,
    });
    const newestOwn = newestByMachine(requests, index);
    const progress = machines.map(({ machine, state }) => {
      const newest = newestOwn.get(machine.uid);
      const last = newest === undefined ? undefined : this.#tracks.get(newest.uid)?.last;
      return planProgress({
        machine,
        record: this.#statuses.recordOf(machine),
        issued: issued.get(machine.uid),
        newest,
        pendingReason: last?.kind === 'pending' ? last.reason : undefined,
        state,
        now,
      });
    });
    for (const { state } of progress) {
      if (state.kind === 'certified') this.#wakeIn(state.notAfter - now + 1_000);
    }
    return progress;
  }

  #startDecisions(requests: readonly ReceivedRequest[], index: MachineIndex, now: number): void {
    const standingOf = (track: RequestTrack) => {
      const machine = index.ofUser(userOf(track));
      return {
        own: machine !== undefined,
        doubtful: machine !== undefined && this.#readings.stateOf(machine).failure !== undefined,
      };
    };
    const turns = planTurns({
      now,
      waiting: this.#dueTracks(requests, now).map((track) => ({
        uid: track.request.uid,
        user: userOf(track),
        ...standingOf(track),
        createdAt: track.request.createdAt,
        firstSeenAt: track.firstSeenAt,
      })),
      running: this.#tracks
        .all()
        .flatMap(({ running }) => (running === undefined ? [] : [running])),
      servedAt: this.#servedAt,
    });
    this.#wakeIn(turns.againInMs);
    for (const uid of turns.start) {
      const track = this.#tracks.get(uid);
      if (track === undefined) continue;
      const user = userOf(track);
      track.running = {
        user,
        ...standingOf(track),
        firstTurn: !isRepeat(this.#servedAt.get(user), now),
        startedAt: now,
        generation: this.#view.cluster.generation,
      };
      this.#servedAt.set(user, now);
      void this.#track(this.#decide(track));
    }
    for (const [user, at] of this.#servedAt) if (!isRepeat(at, now)) this.#servedAt.delete(user);
  }

  /** The undecided requests whose time has come; those that are left are said to be. */
  #dueTracks(requests: readonly ReceivedRequest[], now: number): readonly RequestTrack[] {
    const newest = newestByUser(requests);
    const serverTime = this.#ports.signing.serverTime();
    return this.#tracks.all().filter((track) => {
      if (track.running !== undefined || track.writtenOver !== undefined) return false;
      const left = reasonToLeave(track.request, newest, serverTime);
      if (left !== undefined) {
        reportSettlement(this.#ports, this.#view.cluster.name, track, left, []);
        return false;
      }
      if (track.nextTryAt > now) this.#wakeIn(track.nextTryAt - now);
      return track.nextTryAt <= now;
    });
  }

  async #decide(track: RequestTrack): Promise<void> {
    const { clock, logger } = this.#ports;
    const viewVersion = this.#viewVersion;
    const isCurrent = (judged: ReceivedRequest) =>
      !this.#stopped &&
      this.#view.blocked === undefined &&
      this.#viewVersion === viewVersion &&
      this.#tracks.get(judged.uid)?.request.resourceVersion === judged.resourceVersion &&
      !isSuperseded(judged, this.#ports.signing.requests.list());
    try {
      const { request, step } = await this.#settle(track);
      const outcome = await actOn({
        ports: this.#ports,
        cluster: this.#view.cluster.name,
        track,
        request,
        step,
        statuses: this.#statuses,
        isCurrent: () => isCurrent(request),
      });
      if (outcome === 'done') this.#refused = undefined;
      if (outcome === 'again') track.nextTryAt = clock.now();
      else if (outcome === 'later') putOff(track, clock.now());
    } catch (error) {
      putOff(track, clock.now());
      // The API server will say the same again, until somebody mends rights or schemas.
      const isRefusal = error instanceof KubeError && refusals.has(error.code);
      if (isRefusal) this.#refused = error.message;
      logger.error('a decision could not be made or written; trying again', {
        cluster: this.#view.cluster.name,
        request: track.request.name,
        uid: track.request.uid,
        error: errorText(error),
      });
    } finally {
      track.running = undefined;
      this.#wake();
    }
  }

  /** Plans and reads until the request is settled; ends because each machine is read once. */
  async #settle(
    track: RequestTrack,
  ): Promise<{ request: ReceivedRequest; step: DecisionStep & { kind: 'settled' } }> {
    const { clock, signing } = this.#ports;
    const attemptAt = clock.now();
    const readInAttempt = new Set<string>();
    for (;;) {
      const { request } = track;
      const step = planDecision({
        request,
        firstSeenAt: track.firstSeenAt,
        changedAt: this.#changedAt,
        attemptAt,
        now: clock.now(),
        cluster: this.#view.cluster,
        machines: observeMachines(this.#view, this.#readings),
        server: signing.server,
        readInAttempt,
      });
      if (step.kind === 'settled') return { request, step };
      await Promise.all(step.machines.map((machine) => this.#readings.read(machine)));
      for (const { name } of step.machines) readInAttempt.add(name);
    }
  }

  #jitterOf(machine: TalosMachine): number {
    const known = this.#jitter.get(machine.uid);
    if (known !== undefined) return known;
    const jitter = this.#ports.random();
    this.#jitter.set(machine.uid, jitter);
    return jitter;
  }

  #wakeIn(inMs: number | undefined): void {
    if (inMs !== undefined) this.#wake(Math.max(passGapMs, inMs));
  }

  async #track(work: Promise<void>): Promise<void> {
    this.#running.add(work);
    try {
      await work;
    } finally {
      this.#running.delete(work);
    }
  }
}

function userOf({ request }: RequestTrack): string {
  return request.csr.spec.username ?? '';
}

function machineKey(machines: readonly TalosMachine[]): string {
  return machines
    .map(({ uid, generation }) => `${uid}/${generation}`)
    .sort()
    .join(' ');
}

function newestByMachine(
  requests: readonly ReceivedRequest[],
  index: MachineIndex,
): ReadonlyMap<string, ReceivedRequest> {
  const newest = new Map<string, ReceivedRequest>();
  for (const request of requests) {
    const nodeName = nodeNameOf(request.csr.spec.username ?? '');
    if (nodeName === undefined) continue;
    // Machines that share a name share its requests: what these wait for is said of each.
    for (const { uid } of machinesOf(index.byNodeName(nodeName))) {
      const known = newest.get(uid);
      if (known === undefined || request.createdAt > known.createdAt) newest.set(uid, request);
    }
  }
  return newest;
}
