import { Intruders } from './intruders.ts';
import { Kubelet } from './kubelet.ts';
import { checkCalm } from './liveness.ts';
import { type FaultRates, noFaults, OperatorProcess } from './operator-process.ts';
import type { PhysicalMachine } from './physical-machine.ts';
import { SafetyMonitor } from './safety-monitor.ts';
import type { SeededRandom } from './seeded-random.ts';
import { SimulatedWorld } from './simulated-world.ts';
import { Upheavals } from './upheavals.ts';

/** What a simulation does besides what its seed says. */
export interface SimulationSettings {
  /** Crashes the first process at this call. */
  readonly crashAt?: { readonly call: number; readonly after: boolean };
  /** No faults, intruders or upheavals but those that are asked for. */
  readonly calm?: boolean;
  /** Lets the operator write its decisions over whatever has changed meanwhile. */
  readonly overwrites?: boolean;
  /** Told everything that happens. */
  readonly trace?: (line: string) => void;
  /** Called at the end, before the operator is stopped. */
  readonly atEnd?: (world: SimulatedWorld, monitor: SafetyMonitor) => void;
}

/** What came of a simulation. */
export interface SimulationReport {
  readonly seed: number;
  readonly violations: readonly string[];
  /** Faults and events by kind. */
  readonly counts: ReadonlyMap<string, number>;
  /** Decisions of the operator by type and reason. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Milliseconds, see SafetyMonitor. */
  readonly stalestApproval: number;
  /** Calls to an API server by the first process. */
  readonly firstCalls: number;
}

const minute = 60_000;
/** Trouble lasts so long, then everything is mended; in milliseconds. */
const troubleMs = 5 * minute;
/** By then everything has to be well: a kubelet asks again after 15 minutes. */
const calmMs = 17 * minute;
const idleMs = 6.5 * minute;

/** Runs the operator through a world that this seed makes, and reports what went against the rules. */
export async function simulate(
  seed: number,
  settings: SimulationSettings = {},
): Promise<SimulationReport> {
  const simulation = new Simulation(seed, settings);
  return simulation.run();
}

class Simulation {
  readonly #seed: number;
  readonly #settings: SimulationSettings;
  readonly #world: SimulatedWorld;
  readonly #monitor: SafetyMonitor;
  readonly #random: SeededRandom;
  readonly #processRandom: SeededRandom;
  readonly #kubelets = new Map<PhysicalMachine, Kubelet>();
  readonly #intruders: Intruders;
  readonly #upheavals: Upheavals;
  readonly #skewMs: number;
  readonly #rates: FaultRates;
  readonly #first: OperatorProcess;
  #process: OperatorProcess;
  #restarting = false;
  #troubled = true;

  constructor(seed: number, settings: SimulationSettings) {
    this.#seed = seed;
    this.#settings = settings;
    this.#world = new SimulatedWorld(seed);
    this.#world.trace = settings.trace;
    this.#monitor = new SafetyMonitor(this.#world);
    this.#random = this.#world.random.fork();
    this.#processRandom = this.#world.random.fork();
    this.#skewMs = this.#random.pick([0, 0, 90_000, -90_000]);
    this.#rates = settings.calm === true ? noFaults : drawRates(this.#random);
    this.#intruders = new Intruders(this.#world, this.#random.fork());
    this.#upheavals = new Upheavals(this.#world, this.#random.fork(), {
      kubelets: this.#kubelets,
      startKubelet: (machine) => this.#startKubelet(machine),
      process: () => this.#process,
      restart: (how) => void this.#restart(how),
    });
    this.#world.requestChanged = (kubernetes, name) => {
      this.#world.clock.after(50, () => {
        for (const kubelet of this.#kubelets.values()) kubelet.look(kubernetes, name);
      });
    };
    this.#first = this.#begin();
    this.#process = this.#first;
    this.#first.crashAt = settings.crashAt;
    for (const machine of this.#world.physical.values()) this.#startKubelet(machine);
  }

  async run(): Promise<SimulationReport> {
    const { clock } = this.#world;
    const monitor = this.#monitor;
    if (this.#settings.calm !== true) this.#trouble();
    this.#collect();
    await clock.advance(this.#settings.calm === true ? minute : troubleMs);
    this.#troubled = false;
    this.#process.rates = noFaults;
    await this.#whenRestarted();
    this.#upheavals.mend();
    await clock.advance(calmMs);
    checkCalm(this.#world, monitor, this.#kubelets);
    const before = {
      calls: this.#process.calls,
      reads: this.#world.talos.readCount(),
      pending: this.#world.undecided(),
    };
    await clock.advance(idleMs);
    this.#checkIdle(before);
    checkCalm(this.#world, monitor, this.#kubelets);
    this.#settings.atEnd?.(this.#world, monitor);
    const stopped = this.#process.stop();
    await clock.advance(minute);
    await stopped;
    return {
      seed: this.#seed,
      violations: monitor.violations,
      counts: this.#world.counts,
      outcomes: monitor.outcomes,
      stalestApproval: monitor.stalestApproval,
      firstCalls: this.#first.calls,
    };
  }

  #begin(): OperatorProcess {
    const process = new OperatorProcess(
      this.#world,
      this.#monitor,
      this.#processRandom.fork(),
      this.#skewMs,
      () => void this.#restart('crash'),
    );
    process.overwrites = this.#settings.overwrites === true;
    process.rates = this.#troubled ? this.#rates : noFaults;
    return process;
  }

  #startKubelet(machine: PhysicalMachine): void {
    this.#kubelets.set(machine, new Kubelet(this.#world, machine, this.#random.fork()));
  }

  #trouble(): void {
    const next = (act: () => void, mostMs: number) => {
      this.#world.clock.after(this.#random.int(200, mostMs), () => {
        if (!this.#troubled) return;
        act();
        next(act, mostMs);
      });
    };
    next(() => this.#intruders.act(), this.#random.pick([5_000, 15_000, 40_000]));
    next(() => this.#upheavals.happen(), this.#random.pick([8_000, 20_000, 60_000]));
  }

  /** Takes old requests away, as the kube-controller-manager does, only sooner. */
  #collect(): void {
    this.#world.clock.after(minute, () => {
      this.#world.kubernetes.forEach((kubernetes, number) => {
        for (const { metadata } of kubernetes.requests()) {
          const age = this.#world.clock.now() - Date.parse(metadata.creationTimestamp ?? '');
          const isHeld = [...this.#kubelets.values()].some(
            ({ outstanding, certifiedBy }) =>
              outstanding === metadata.name || certifiedBy === metadata.name,
          );
          if (isHeld || age < 4 * minute) continue;
          kubernetes.deleteRequest(metadata.name);
          this.#world.requestChanged(number, metadata.name);
        }
      });
      this.#collect();
    });
  }

  async #restart(how: 'stop' | 'crash'): Promise<void> {
    if (this.#restarting) return;
    this.#restarting = true;
    if (how === 'crash') this.#process.crash();
    else await Promise.race([this.#process.stop(), this.#world.wait(minute)]);
    this.#process.crash();
    await this.#world.wait(this.#processRandom.int(100, 15_000));
    this.#process = this.#begin();
    this.#restarting = false;
    this.#world.disturbed();
  }

  async #whenRestarted(): Promise<void> {
    for (let second = 0; this.#restarting && second < 120; second += 1) {
      await this.#world.clock.advance(1_000);
    }
    if (this.#restarting) this.#monitor.violated('never-stopped', 'the operator does not end');
  }

  #checkIdle(before: {
    readonly calls: number;
    readonly reads: number;
    readonly pending: number;
  }): void {
    const machines = this.#world.physical.size;
    const calls = this.#process.calls - before.calls;
    const reads = this.#world.talos.readCount() - before.reads;
    const minutes = idleMs / minute;
    // Per machine: its status every ten minutes, and renewals with their records and Events. Per
    // minute: two Secrets of a cluster, and whoever can never be approved is tried once.
    const pending = before.pending;
    const mostCalls = machines * 12 + (4 + pending * 4) * minutes;
    if (calls > mostCalls) {
      this.#monitor.violated('busy-idle', `${calls} calls in ${minutes} minutes`);
    }
    const mostReads = machines * 12 + pending * 12 * minutes;
    if (reads > mostReads) {
      this.#monitor.violated('busy-idle', `${reads} readings in ${minutes} minutes`);
    }
  }
}

function drawRates(random: SeededRandom): FaultRates {
  const level = random.pick([0, 0.01, 0.05, 0.2]);
  return {
    error: level,
    lostAnswer: level,
    slow: random.pick([0, 0.05, 0.3]),
    crash: level / 10,
    talos: random.pick([0, 0.02, 0.15]),
  };
}
