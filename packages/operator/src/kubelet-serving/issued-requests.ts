import type { ReceivedRequest, TalosCluster, TalosMachine } from '@ichor/k8s-adapter';
import type { MachineIndex } from './machine-lookup.ts';
import type { MachineStatuses } from './machine-statuses.ts';
import { identityOf, reservedIn } from './node-identity.ts';
import type { ReadMachine } from './plan-decision.ts';
import { type IssuedOutcome, planRecord, supersedes } from './plan-records.ts';

/** So many of a machine's newest issued requests are looked at. */
const newestLookedAt = 4;

/** What is known about the certificates that were issued to one machine. */
export interface IssuedToMachine {
  /** The newest certificate that names what is not the machine's, where there is one. */
  outside: { readonly issuedAt: number; readonly detail: string } | undefined;
  /** What a person let through, where the recorded certificate has such names. */
  unverified: string | undefined;
}

interface Judged {
  readonly basis: string;
  readonly outcome: IssuedOutcome;
}

/** Judges issued certificates, each once per state of what it is judged by, and records them. */
export class IssuedRequests {
  readonly #judged = new Map<string, Judged>();
  readonly #unusable: (request: ReceivedRequest, detail: string) => void;

  /** @param unusable is called once for each certificate that cannot be held against a machine */
  constructor(unusable: (request: ReceivedRequest, detail: string) => void) {
    this.#unusable = unusable;
  }

  /**
   * Looks at the issued requests of all machines.
   *
   * @param basis changes whenever something changes by which names are judged
   * @returns what is known by machine uid
   */
  observe(
    requests: readonly ReceivedRequest[],
    machines: readonly ReadMachine[],
    index: MachineIndex,
    cluster: TalosCluster,
    server: string,
    statuses: MachineStatuses,
    basis: string,
  ): ReadonlyMap<string, IssuedToMachine> {
    const byMachine = new Map<string, { machine: TalosMachine; requests: ReceivedRequest[] }>();
    for (const request of requests) {
      if ((request.csr.status?.certificate ?? '') === '') continue;
      const machine = index.ofUser(request.csr.spec.username);
      if (machine === undefined) continue;
      const group = byMachine.get(machine.uid) ?? { machine, requests: [] };
      group.requests.push(request);
      byMachine.set(machine.uid, group);
    }
    const result = new Map<string, IssuedToMachine>();
    const used = new Set<string>();
    const reserved = reservedIn(cluster, machines, server);
    for (const { machine, requests: issued } of byMachine.values()) {
      const known = machines.find((candidate) => candidate.machine.uid === machine.uid);
      if (known?.facts === undefined || reserved.kind === 'unknown') continue;
      const { identity, options } = identityOf(
        machine,
        known.facts,
        cluster,
        machines,
        reserved.reserved,
      );
      const state: IssuedToMachine = { outside: undefined, unverified: undefined };
      const newest = issued.sort((a, b) => a.createdAt - b.createdAt).slice(-newestLookedAt);
      for (const request of newest) {
        used.add(request.uid);
        const outcome = this.#judge(request, `${request.resourceVersion} ${basis}`, () =>
          planRecord(request, machine, identity, options),
        );
        if (outcome.kind === 'outside') state.outside = outcome;
        if (outcome.kind !== 'record') continue;
        if (supersedes(outcome.record, statuses.recordOf(machine))) {
          statuses.putRecord(machine, outcome.record);
        }
        if (statuses.recordOf(machine)?.fingerprint === outcome.record.fingerprint) {
          state.unverified = outcome.unverified[0];
        }
      }
      result.set(machine.uid, state);
    }
    for (const uid of this.#judged.keys()) if (!used.has(uid)) this.#judged.delete(uid);
    return result;
  }

  #judge(request: ReceivedRequest, basis: string, judge: () => IssuedOutcome): IssuedOutcome {
    const known = this.#judged.get(request.uid);
    // A certificate that was once the machine's stays so; all else is judged anew.
    if (known !== undefined && (known.basis === basis || known.outcome.kind === 'record')) {
      return known.outcome;
    }
    const outcome = judge();
    this.#judged.set(request.uid, { basis, outcome });
    if (outcome.kind === 'unusable' && known?.outcome.kind !== 'unusable') {
      this.#unusable(request, outcome.detail);
    }
    return outcome;
  }
}
