import type { Kubelet } from './kubelet.ts';
import type { OperatorProcess } from './operator-process.ts';
import type { PhysicalMachine } from './physical-machine.ts';
import { freshnessMs } from './safety-monitor.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { SimulatedWorld } from './simulated-world.ts';
import { planMachine } from './world-plan.ts';

/** What upheavals reach besides the world. */
export interface UpheavalReach {
  readonly kubelets: ReadonlyMap<PhysicalMachine, Kubelet>;
  startKubelet(machine: PhysicalMachine): void;
  process(): OperatorProcess;
  /** Ends the operator as a signal does and starts it again, or crashes it. */
  restart(how: 'stop' | 'crash'): void;
}

/** Everything that happens to a cluster without bad intent. */
export class Upheavals {
  readonly #world: SimulatedWorld;
  readonly #random: SeededRandom;
  readonly #reach: UpheavalReach;
  #added = 0;
  #isMended = false;

  constructor(world: SimulatedWorld, random: SeededRandom, reach: UpheavalReach) {
    this.#world = world;
    this.#random = random;
    this.#reach = reach;
  }

  /** One thing that happens. */
  happen(): void {
    const events: readonly (() => void)[] = [
      () => this.#power(),
      () => this.#power(),
      () => this.#power(),
      () => this.#move(),
      () => this.#move(),
      () => this.#exchange(),
      () => this.#changeNames(),
      () => this.#changeNames(),
      () => this.#addMachine(),
      () => this.#removeMachine(),
      () => this.#recreateMachine(),
      () => this.#changeOptions(),
      () => this.#switch(),
      () => this.#secret(),
      () => this.#holdWatch(),
      () => this.#holdWatch(),
      () => this.#holdWatch(),
      () => this.#restart('stop'),
      () => this.#restart('crash'),
      () => this.#restart('crash'),
    ];
    this.#random.pick(events)();
  }

  /** Puts everything in order again, so that every honest machine can be certified. */
  mend(): void {
    const world = this.#world;
    this.#isMended = true;
    world.mendSecret();
    for (const { name, kubernetes } of world.clusters) {
      // Two clusters with one API server decide nothing: one of them is switched off.
      const shares = name === 'edge' && kubernetes === 0;
      world.setOptions(name, { enabled: !shares });
    }
    for (const machine of world.physical.values()) {
      const spec = world.inventorySpec(machine.plan.name);
      if (spec === undefined) continue;
      if (machine.power !== 'up') this.#on(machine);
      if (spec.address !== machine.address) {
        world.changeInventory(machine.plan.name, { address: machine.address });
      }
    }
    for (const watch of this.#reach.process().watches) if (watch.held) watch.release('replay');
    world.disturbed();
  }

  #power(): void {
    const machine = this.#machine();
    if (machine === undefined) return;
    if (machine.power !== 'up') {
      this.#world.count('machine up');
      this.#on(machine);
      return;
    }
    const how = this.#random.pick(['down', 'frozen'] as const);
    this.#world.count(`machine ${how}`);
    this.#world.powerOff(machine, how);
    this.#world.clock.after(this.#random.int(1, 120) * 1_000, () => {
      if (machine.power !== 'up') this.#on(machine);
    });
  }

  #on(machine: PhysicalMachine): void {
    this.#world.powerUp(machine);
    this.#reach.kubelets.get(machine)?.restart();
  }

  /** A machine gets an address that nobody had; the inventory hears of it sooner or later. */
  #move(): void {
    const machine = this.#machine();
    if (machine === undefined || machine.plan.machineType === 'controlplane') return;
    this.#world.count('address changed');
    this.#added += 1;
    const address = `${this.#world.planOf(machine.plan.cluster).prefix}.1.${this.#added}`;
    this.#moveTo(machine, address);
  }

  /** A platform gives a machine an external address, or takes it away; the inventory knows of neither. */
  #changeNames(): void {
    const machine = this.#machine();
    if (machine === undefined) return;
    this.#world.count('external address changed');
    this.#added += 1;
    const has = machine.names.externalAddresses.length > 0;
    this.#askForFormer(machine);
    const externalAddresses = has ? [] : [`203.0.114.${this.#added}`];
    machine.change({ externalAddresses }, this.#world.clock.now());
    if (machine.power === 'up') this.#world.powerUp(machine);
    this.#reach.kubelets.get(machine)?.restart();
  }

  /** A machine that was taken over asks, later, for what it is about to lose. */
  #askForFormer(machine: PhysicalMachine): void {
    const { conduct, nodeName, cluster } = machine.plan;
    if (conduct === 'honest') return;
    const names = machine.kubeletNames();
    this.#world.clock.after(freshnessMs + this.#random.int(1_000, 60_000), () => {
      this.#world.count('request for former names');
      this.#world.submit({
        kubernetes: this.#world.planOf(cluster).kubernetes,
        username: `system:node:${nodeName}`,
        nodeName,
        names,
      });
    });
  }

  /** A machine goes and another one gets its address. */
  #exchange(): void {
    const [machine, heir] = [this.#machine(), this.#machine()];
    if (machine === undefined || heir === undefined || machine === heir) return;
    if (machine.plan.cluster !== heir.plan.cluster) return;
    if ([machine, heir].some(({ plan }) => plan.machineType === 'controlplane')) return;
    this.#world.count('address handed on');
    const { address } = machine;
    this.#added += 1;
    this.#moveTo(machine, `${this.#world.planOf(machine.plan.cluster).prefix}.1.${this.#added}`);
    this.#moveTo(heir, address);
  }

  #moveTo(machine: PhysicalMachine, address: string): void {
    this.#askForFormer(machine);
    const tell = () => this.#world.changeInventory(machine.plan.name, { address });
    if (this.#random.chance(0.2)) tell();
    else
      this.#world.clock.after(
        this.#random.int(1, 60) * 1_000,
        () => machine.address === address && tell(),
      );
    this.#world.move(machine, address);
    this.#reach.kubelets.get(machine)?.restart();
  }

  #addMachine(): void {
    this.#added += 1;
    this.#world.count('machine added');
    const plan = this.#random.pick(this.#world.clusters);
    const prefix = plan.name === 'edge' && plan.kubernetes === 0 ? 'edge-' : '';
    const nodeName = `${prefix}added-${this.#added}`;
    const address = `${plan.prefix}.2.${this.#added}`;
    const machine = this.#world.addMachine(
      planMachine(this.#random, plan.name, 'worker', nodeName, address),
    );
    this.#reach.startKubelet(machine);
  }

  #removeMachine(): void {
    const machine = this.#machine();
    if (machine === undefined || machine.plan.machineType === 'controlplane') return;
    this.#world.count('machine removed');
    this.#world.removeFromInventory(machine.plan.name);
  }

  /** A TalosMachine is deleted and created anew: another object of the same name. */
  #recreateMachine(): void {
    const machine = this.#machine();
    const spec = machine && this.#world.inventorySpec(machine.plan.name);
    if (machine === undefined || spec === undefined) return;
    this.#world.count('machine recreated');
    this.#world.removeFromInventory(machine.plan.name);
    const recreate = () => {
      if (this.#world.inventorySpec(machine.plan.name) === undefined) {
        this.#world.putIntoInventory(machine.plan.name, { ...spec, address: machine.address });
      }
    };
    if (this.#random.chance(0.5)) recreate();
    else this.#world.clock.after(this.#random.int(1, 20_000), recreate);
  }

  #changeOptions(): void {
    const { name, prefix } = this.#random.pick(this.#world.clusters);
    this.#world.count('options changed');
    const change = this.#random.int(0, 3);
    if (change === 0) {
      const before = this.#world.options.get(name)?.unknownNames;
      this.#world.setOptions(name, { unknownNames: before === 'Deny' ? 'Pending' : 'Deny' });
    } else if (change === 1) {
      const extraDNSNames = this.#random.chance(0.5) ? [`shared.${name}.example`] : [];
      this.#world.setOptions(name, { extraDNSNames });
    } else if (change === 2) {
      const extraSubnets = this.#random.chance(0.5) ? [`${prefix}.7.0/24`] : [];
      this.#world.setOptions(name, { extraSubnets });
    } else {
      const reservedSubnets = this.#random.chance(0.5) ? [`${prefix}.7.0/28`] : [];
      this.#world.setOptions(name, { reservedSubnets });
    }
  }

  #switch(): void {
    const { name } = this.#random.pick(this.#world.clusters);
    const enabled = !(this.#world.options.get(name)?.enabled ?? true);
    this.#world.count(enabled ? 'switched on' : 'switched off');
    this.#world.setOptions(name, { enabled });
    if (enabled) return;
    this.#world.clock.after(this.#random.int(1, 90) * 1_000, () => {
      if (!this.#isMended) this.#world.setOptions(name, { enabled: true });
    });
  }

  #secret(): void {
    if (this.#world.clusters.every(({ kubernetes }) => kubernetes === 0)) return;
    this.#world.count('Secret broken');
    this.#world.breakSecret();
    this.#world.clock.after(this.#random.int(1, 100) * 1_000, () => this.#world.mendSecret());
  }

  #holdWatch(): void {
    const { watches } = this.#reach.process();
    if (watches.length === 0) return;
    const watch = this.#random.pick(watches);
    const kind = this.#random.int(0, 2);
    if (kind === 0) {
      this.#world.count('watch broken');
      watch.fail('the connection broke');
      return;
    }
    this.#world.count(kind === 1 ? 'watch late' : 'watch listed anew');
    watch.hold();
    this.#world.clock.after(this.#random.int(500, 30_000), () => {
      watch.release(kind === 1 ? 'replay' : 'relist');
      this.#world.disturbed();
    });
  }

  #restart(how: 'stop' | 'crash'): void {
    this.#world.count(how === 'stop' ? 'operator stopped' : 'operator crashed');
    this.#reach.restart(how);
  }

  #machine(): PhysicalMachine | undefined {
    const machines = [...this.#world.physical.values()].filter(
      ({ plan }) => this.#world.inventorySpec(plan.name) !== undefined,
    );
    return machines.length === 0 ? undefined : this.#random.pick(machines);
  }
}
