import {
  type Inventory,
  KubeError,
  type MachineStatusApply,
  type ServingCertificateRecord,
  type TalosMachine,
} from '@ichor/k8s-adapter';
import type { Clock } from '../runtime/clock.ts';
import { SerialQueue } from '../runtime/serial-queue.ts';
import {
  factsFromStatus,
  identityStatusOf,
  type MachineFacts,
  sameFacts,
} from './machine-facts.ts';

/** Facts older than this are written again though they did not change, in milliseconds. */
export const observedAtMs = 10 * 60_000;
/** A write that failed is tried again after this, in milliseconds. */
export const statusRetryMs = 2_000;

interface Entry {
  readonly uid: string;
  readonly queue: SerialQueue;
  facts: MachineFacts | undefined;
  record: ServingCertificateRecord | undefined;
  nodeName: string | undefined;
  /** The facts that the API server is known to hold. */
  writtenFacts: MachineFacts | undefined;
  dirty: boolean;
  /** True while a write in the background is on its way; it takes what is put meanwhile, too. */
  writing: boolean;
  /** What the API server said when it no longer knew the machine; the watch is yet to show it. */
  gone: KubeError | undefined;
  /** When a write in the background may follow one that failed, in milliseconds since the epoch. */
  retryAt: number;
}

/**
 * Keeps in the status of each TalosMachine what must survive a restart: what the machine said and
 * the certificate that was issued to it. One write per machine at a time, each of the whole status.
 */
export class MachineStatuses {
  readonly #entries = new Map<string, Entry>();
  readonly #inventory: Pick<Inventory, 'applyMachineStatus'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #failed: (machine: TalosMachine, error: unknown) => void;
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  /**
   * @param failed is called when a write in the background fails; {@link MachineStatuses.retry}
   *   repeats it after {@link statusRetryMs}
   */
  constructor(
    inventory: Pick<Inventory, 'applyMachineStatus'>,
    clock: Pick<Clock, 'now'>,
    failed: (machine: TalosMachine, error: unknown) => void,
  ) {
    this.#inventory = inventory;
    this.#clock = clock;
    this.#failed = failed;
  }

  /** Begins no more writes in the background; resolves when the last one has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running);
  }

  /** The certificate on record for a machine. */
  recordOf(machine: TalosMachine): ServingCertificateRecord | undefined {
    return this.#entryOf(machine).record;
  }

  /**
   * Takes over a reading, and drops the certificate on record where it is of another node; writes
   * it where something changed or the last one is old.
   */
  putFacts(machine: TalosMachine, facts: MachineFacts): void {
    const entry = this.#entryOf(machine);
    entry.facts = facts;
    // Another node answers now: what was issued to the one before is no certificate of this one.
    if (entry.nodeName !== undefined && entry.nodeName !== facts.nodeName) entry.record = undefined;
    entry.nodeName = facts.nodeName;
    const written = entry.writtenFacts;
    if (
      written === undefined ||
      !sameFacts(written, facts) ||
      facts.observedAt - written.observedAt > observedAtMs
    ) {
      this.#write(machine, entry);
    }
  }

  /** Takes over a certificate. */
  putRecord(machine: TalosMachine, record: ServingCertificateRecord): void {
    const entry = this.#entryOf(machine);
    entry.record = record;
    this.#write(machine, entry);
  }

  /**
   * Resolves once all that was put is stored; rejects with KubeError where it cannot be, `notFound`
   * for a machine that was deleted.
   */
  async flush(machine: TalosMachine): Promise<void> {
    const entry = this.#entries.get(machine.name);
    // Whoever still works with a machine that was replaced must not displace its successor.
    if (entry?.uid !== machine.uid) return;
    await entry.queue.run(async () => {
      // It is asked again each time: an API server may lose a resource for a moment.
      entry.dirty ||= entry.gone !== undefined;
      entry.gone = undefined;
      while (entry.dirty && entry.gone === undefined) await this.#apply(machine, entry);
      if (entry.gone !== undefined) throw entry.gone;
    });
  }

  /**
   * Tries again what could not be written, where its time has come.
   *
   * @returns milliseconds until the next time comes; undefined where nothing waits for it
   */
  retry(machines: readonly TalosMachine[]): number | undefined {
    const now = this.#clock.now();
    let nextInMs: number | undefined;
    for (const machine of machines) {
      const entry = this.#entries.get(machine.name);
      if (entry?.uid !== machine.uid || !entry.dirty || entry.writing) continue;
      const inMs = entry.retryAt - now;
      if (inMs <= 0) this.#write(machine, entry);
      else nextInMs = Math.min(nextInMs ?? inMs, inMs);
    }
    return nextInMs;
  }

  /** Forgets the machines that are not in the list, and those that were made anew. */
  keepOnly(machines: readonly TalosMachine[]): void {
    const uids = new Set(machines.map(({ uid }) => uid));
    for (const [name, { uid }] of this.#entries) if (!uids.has(uid)) this.#entries.delete(name);
  }

  #write(machine: TalosMachine, entry: Entry): void {
    entry.dirty = true;
    if (entry.writing || this.#closed) return;
    entry.writing = true;
    const write = this.#writeNow(machine, entry).finally(() => this.#running.delete(write));
    this.#running.add(write);
  }

  async #writeNow(machine: TalosMachine, entry: Entry): Promise<void> {
    try {
      await this.flush(machine);
      entry.writing = false;
      if (entry.dirty) this.#write(machine, entry);
    } catch (error) {
      entry.writing = false;
      if (error === entry.gone) return;
      entry.retryAt = this.#clock.now() + statusRetryMs;
      this.#failed(machine, error);
    }
  }

  async #apply(machine: TalosMachine, entry: Entry): Promise<void> {
    const { facts, record, nodeName } = entry;
    const status: MachineStatusApply = {
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(facts === undefined ? {} : { identity: identityStatusOf(facts) }),
      ...(record === undefined ? {} : { kubeletServingCertificate: record }),
    };
    try {
      await this.#inventory.applyMachineStatus(machine.name, status);
    } catch (error) {
      // A machine that was deleted has no status to keep.
      if (!(error instanceof KubeError && error.code === 'notFound')) throw error;
      entry.gone = error;
    }
    entry.writtenFacts = facts;
    entry.dirty = entry.facts !== facts || entry.record !== record;
  }

  #entryOf(machine: TalosMachine): Entry {
    const known = this.#entries.get(machine.name);
    if (known?.uid === machine.uid) return known;
    // What an earlier process kept is the starting point, so that writing one part loses no other.
    const kept = factsFromStatus(machine);
    const entry: Entry = {
      uid: machine.uid,
      queue: new SerialQueue(),
      facts: kept,
      record: machine.status.kubeletServingCertificate,
      nodeName: machine.status.nodeName,
      writtenFacts: kept,
      dirty: false,
      writing: false,
      gone: undefined,
      retryAt: 0,
    };
    this.#entries.set(machine.name, entry);
    return entry;
  }
}
