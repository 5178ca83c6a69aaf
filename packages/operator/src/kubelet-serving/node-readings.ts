import type { TalosMachine } from '@ichor/k8s-adapter';
import type { TalosClient } from '@ichor/talos-client';
import type { Clock } from '../runtime/clock.ts';
import { errorText } from '../runtime/error-text.ts';
import type { Semaphore } from '../runtime/semaphore.ts';
import { factsFromStatus, factsOf, type MachineFacts } from './machine-facts.ts';
import { isControlPlane } from './node-identity.ts';

/** What is known about a machine from asking it. Times are milliseconds since the epoch. */
export interface ReadingState {
  /** The last successful reading, of this process or kept in the machine's status. */
  readonly facts: MachineFacts | undefined;
  /** When the last successful reading of this process began. */
  readonly readAt: number | undefined;
  /** When the last reading that ended, well or not, began. */
  readonly triedAt: number | undefined;
  /** Why the last reading failed; undefined after a successful one. */
  readonly failure: string | undefined;
}

interface Entry {
  uid: string;
  generation: number;
  state: ReadingState;
  inFlight: Flight | undefined;
}

interface Flight {
  /** Begins the reading, unless it has begun. */
  readonly begin: () => Promise<void>;
  done: Promise<void>;
}

const never: ReadingState = {
  facts: undefined,
  readAt: undefined,
  triedAt: undefined,
  failure: undefined,
};

/**
 * The readings of the machines of one cluster. Readings are shared: whoever wants one while it is
 * on its way gets the same one. A machine that does not answer keeps what it said last.
 */
export class NodeReadings {
  readonly #entries = new Map<string, Entry>();
  readonly #client: () => TalosClient;
  readonly #clock: Clock;
  readonly #ended: (machine: TalosMachine, state: ReadingState) => void;

  /**
   * @param client gives the client to ask with
   * @param ended is called after each reading with what is known then
   */
  constructor(
    client: () => TalosClient,
    clock: Clock,
    ended: (machine: TalosMachine, state: ReadingState) => void,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#ended = ended;
  }

  /**
   * What is known about a machine. A machine whose spec changed has not been tried, but what it
   * said stays known; a machine that was deleted and made anew is another one.
   */
  stateOf(machine: TalosMachine): ReadingState {
    return this.#entryOf(machine).state;
  }

  /** Forgets the machines that are not in the list, and those that were made anew. */
  keepOnly(machines: readonly TalosMachine[]): void {
    const uids = new Set(machines.map(({ uid }) => uid));
    for (const [name, { uid }] of this.#entries) if (!uids.has(uid)) this.#entries.delete(name);
  }

  /**
   * Reads a machine now, or joins the reading that is on its way. Never rejects.
   *
   * @param room where given, the reading waits for its turn there; a caller without it does not
   *   wait, not even for a reading that is still waiting
   */
  read(machine: TalosMachine, room?: Semaphore): Promise<void> {
    const entry = this.#entryOf(machine);
    if (entry.inFlight !== undefined) {
      return room === undefined ? entry.inFlight.begin() : entry.inFlight.done;
    }
    let begun: Promise<void> | undefined;
    const begin = () => {
      begun ??= this.#readInto(entry, machine);
      return begun;
    };
    const flight: Flight = { begin, done: Promise.resolve() };
    entry.inFlight = flight;
    flight.done = room === undefined ? begin() : room.run(begin);
    return flight.done;
  }

  async #readInto(entry: Entry, machine: TalosMachine): Promise<void> {
    const outcome = await this.#ask(machine, this.#clock.now());
    // The machine may have been replaced, or given another address, while it was asked.
    if (this.#entries.get(machine.name) !== entry) return;
    entry.inFlight = undefined;
    entry.state = outcome(entry.state);
    this.#ended(machine, entry.state);
  }

  async #ask(
    machine: TalosMachine,
    beganAt: number,
  ): Promise<(before: ReadingState) => ReadingState> {
    const failed = (failure: string) => (before: ReadingState) => ({
      ...before,
      triedAt: beganAt,
      failure,
    });
    try {
      const said = await this.#client().readNodeFacts({
        address: machine.spec.address,
        controlPlane: isControlPlane(machine),
      });
      const result = factsOf(said, this.#clock.now());
      if (result.kind === 'unusable') return failed(result.cause);
      return () => ({
        facts: result.facts,
        readAt: beganAt,
        triedAt: beganAt,
        failure: undefined,
      });
    } catch (error) {
      return failed(errorText(error));
    }
  }

  #entryOf(machine: TalosMachine): Entry {
    const known = this.#entries.get(machine.name);
    if (known?.uid === machine.uid && known.generation === machine.generation) return known;
    const kept = known?.uid === machine.uid ? known.state.facts : undefined;
    const entry: Entry = {
      uid: machine.uid,
      generation: machine.generation,
      state: { ...never, facts: kept ?? factsFromStatus(machine) },
      inFlight: undefined,
    };
    this.#entries.set(machine.name, entry);
    return entry;
  }
}
