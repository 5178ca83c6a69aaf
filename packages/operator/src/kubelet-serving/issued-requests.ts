import type { ReceivedRequest, TalosCluster } from '@ichor/k8s-adapter';
import type { ReservedNames } from '@ichor/policy';
import type { MachineIndex } from './machine-lookup.ts';
import type { MachineStatuses } from './machine-statuses.ts';
import { identityOf, type Judgement, reservedIn } from './node-identity.ts';
import type { ReadMachine } from './plan-decision.ts';
import { type IssuedOutcome, planRecord, supersedes } from './plan-records.ts';

/** So many of a machine's newest issued requests are looked at. */
const newestLookedAt = 4;

/** What is known about the certificates that were issued to one machine. */
export interface IssuedToMachine {
  /** The newest certificate that names what is not the machine's, where there is one. */
  readonly outside: { readonly issuedAt: number; readonly detail: string } | undefined;
  /** What a person let through, where the recorded certificate has such names. */
  readonly unverified: string | undefined;
}

/** What issued certificates are judged by. */
export interface IssuedSnapshot {
  readonly requests: readonly ReceivedRequest[];
  readonly machines: readonly ReadMachine[];
  readonly index: MachineIndex;
  readonly cluster: TalosCluster;
  /** URL of the API server. */
  readonly server: string;
  /** Changes whenever something changes by which names are judged. */
  readonly basis: string;
}

interface Judged {
  /** UID of the machine that it was judged for. */
  readonly machine: string;
  readonly basis: string;
  readonly outcome: IssuedOutcome;
}

/** Judges issued certificates, each once per state of what it is judged by, and records them. */
export class IssuedRequests {
  readonly #judged = new Map<string, Judged>();
  readonly #statuses: Pick<MachineStatuses, 'recordOf' | 'putRecord'>;
  readonly #unusable: (request: ReceivedRequest, detail: string) => void;

  /** @param unusable is called once for each certificate that cannot be held against a machine */
  constructor(
    statuses: Pick<MachineStatuses, 'recordOf' | 'putRecord'>,
    unusable: (request: ReceivedRequest, detail: string) => void,
  ) {
    this.#statuses = statuses;
    this.#unusable = unusable;
  }

  /** Looks at the issued requests of all machines. Returns what is known by machine uid. */
  observe(snapshot: IssuedSnapshot): ReadonlyMap<string, IssuedToMachine> {
    const result = new Map<string, IssuedToMachine>();
    const { cluster, machines, server } = snapshot;
    const reserved = reservedIn(cluster, machines, server);
    const issued = newestIssued(snapshot);
    if (reserved.kind === 'known') {
      for (const known of machines) {
        const requests = issued.get(known.machine.uid);
        if (requests === undefined || known.facts === undefined) continue;
        result.set(
          known.machine.uid,
          this.#ofMachine(known, requests, snapshot, reserved.reserved),
        );
      }
    }
    const kept = new Set([...issued.values()].flat().map(({ uid }) => uid));
    for (const uid of this.#judged.keys()) if (!kept.has(uid)) this.#judged.delete(uid);
    return result;
  }

  #ofMachine(
    known: ReadMachine,
    requests: readonly ReceivedRequest[],
    { cluster, machines, basis }: IssuedSnapshot,
    reserved: ReservedNames,
  ): IssuedToMachine {
    const { machine, facts } = known;
    if (facts === undefined) return { outside: undefined, unverified: undefined };
    // Putting an identity together looks at all machines, and mostly everything is judged already.
    let judgement: Judgement | undefined;
    const outcomes = requests.map((request) =>
      this.#judge(request, machine.uid, `${request.resourceVersion} ${basis}`, () => {
        judgement ??= identityOf(machine, facts, cluster, machines, reserved);
        return planRecord(request, machine, judgement);
      }),
    );
    // A kubelet serves what its last request got it, also where an earlier one was signed later.
    const newest = outcomes.findLast((outcome) => outcome.kind === 'record');
    let unverified: string | undefined;
    if (newest !== undefined) {
      const kept = this.#statuses.recordOf(machine);
      const isOfEarlierRequest = outcomes.some(
        (outcome) =>
          outcome !== newest &&
          outcome.kind === 'record' &&
          outcome.record.fingerprint === kept?.fingerprint,
      );
      if (isOfEarlierRequest || supersedes(newest.record, kept)) {
        this.#statuses.putRecord(machine, newest.record);
      }
      const recorded = this.#statuses.recordOf(machine);
      if (recorded?.fingerprint === newest.record.fingerprint) unverified = newest.unverified[0];
    }
    return { outside: outcomes.findLast((outcome) => outcome.kind === 'outside'), unverified };
  }

  #judge(
    request: ReceivedRequest,
    machine: string,
    basis: string,
    judge: () => IssuedOutcome,
  ): IssuedOutcome {
    const known = this.#judged.get(request.uid);
    // A certificate that was once the machine's stays so; all else is judged anew.
    const isSettled = known?.basis === basis || known?.outcome.kind === 'record';
    if (known?.machine === machine && isSettled) return known.outcome;
    const outcome = judge();
    this.#judged.set(request.uid, { machine, basis, outcome });
    if (outcome.kind === 'unusable' && known?.outcome.kind !== 'unusable') {
      this.#unusable(request, outcome.detail);
    }
    return outcome;
  }
}

/** The newest issued requests by machine uid, oldest first. */
function newestIssued({
  requests,
  index,
}: IssuedSnapshot): ReadonlyMap<string, readonly ReceivedRequest[]> {
  const issued = requests.filter(({ csr }) => (csr.status?.certificate ?? '') !== '');
  const byMachine = new Map<string, ReceivedRequest[]>();
  for (const request of issued) {
    const uid = index.ofUser(request.csr.spec.username)?.uid;
    if (uid === undefined) continue;
    const known = byMachine.get(uid);
    if (known === undefined) byMachine.set(uid, [request]);
    else known.push(request);
  }
  return new Map(
    [...byMachine].map(([uid, ofMachine]) => [
      uid,
      ofMachine.sort((a, b) => a.createdAt - b.createdAt).slice(-newestLookedAt),
    ]),
  );
}
