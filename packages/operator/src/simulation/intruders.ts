import type { PhysicalMachine } from './physical-machine.ts';
import type { SeededRandom } from './seeded-random.ts';
import { conditionTypes, type SimulatedWorld } from './simulated-world.ts';

/** Everybody who wants a certificate that is not theirs, and people who decide by hand. */
export class Intruders {
  readonly #world: SimulatedWorld;
  readonly #random: SeededRandom;

  constructor(world: SimulatedWorld, random: SeededRandom) {
    this.#world = world;
    this.#random = random;
  }

  /** One thing that somebody does. */
  act(): void {
    const actions: readonly (() => void)[] = [
      () => this.#takeName(),
      () => this.#takeName(),
      () => this.#takeName(),
      () => this.#flood(),
      () => this.#impersonate(),
      () => this.#lie(),
      () => this.#lie(),
      () => this.#askOtherSigner(),
      () => this.#decideByHand(),
      () => this.#decideByHand(),
      () => this.#meddle(),
    ];
    this.#random.pick(actions)();
  }

  /** A node that was taken over asks for its own name and somebody else's. */
  #takeName(): void {
    const intruder = this.#intruder();
    if (intruder === undefined) return;
    const own = intruder.kubeletNames();
    const wanted = [this.#wantedName(intruder)];
    const names = this.#random.chance(0.3) ? wanted : [...own, ...wanted];
    this.#submitAs(intruder, names, 'request for a foreign name');
  }

  #flood(): void {
    const intruder = this.#intruder();
    if (intruder === undefined) return;
    for (let count = this.#random.int(3, 9); count > 0; count -= 1) {
      const names = this.#random.chance(0.5)
        ? intruder.kubeletNames()
        : [intruder.plan.nodeName, this.#wantedName(intruder)];
      this.#submitAs(intruder, names, 'request of a flood');
    }
  }

  /** Somebody who is not the node puts its name into the common name. */
  #impersonate(): void {
    const victim = this.#random.pick([...this.#world.physical.values()]);
    const username = this.#random.pick([
      'mallory',
      'system:serviceaccount:default:builder',
      'system:node:nobody',
      `system:node:${victim.plan.nodeName.toUpperCase()}`,
    ]);
    this.#world.count('request of a stranger');
    this.#world.submit({
      kubernetes: this.#world.planOf(victim.plan.cluster).kubernetes,
      username,
      nodeName: victim.plan.nodeName,
      names: victim.kubeletNames(),
    });
  }

  /** A node whose Talos was taken over says that it is more than it is, and asks for it. */
  #lie(): void {
    const liar = this.#pickFrom((machine) => machine.plan.conduct === 'lying');
    if (liar === undefined || liar.power !== 'up') return;
    const wanted = this.#wantedName(liar);
    const isName = /[a-z]/.test(wanted) && !wanted.includes(':');
    this.#world.count('lie of a node');
    const source = this.#random.int(0, 3);
    if (isName) {
      liar.lie =
        source === 0
          ? { nodeName: wanted }
          : source === 1
            ? { hostname: wanted }
            : { platformNames: [wanted] };
    } else {
      const { nodeIps } = liar.names;
      liar.lie = source < 3 ? { nodeIps: [...nodeIps, wanted] } : { externalAddresses: [wanted] };
    }
    if (this.#random.chance(0.1)) liar.lie = undefined;
    this.#world.powerUp(liar);
    this.#submitAs(liar, [liar.plan.nodeName, wanted], 'request that rests on a lie');
  }

  #askOtherSigner(): void {
    const machine = this.#random.pick([...this.#world.physical.values()]);
    this.#world.count('request to another signer');
    this.#world.submit({
      kubernetes: this.#world.planOf(machine.plan.cluster).kubernetes,
      username: `system:node:${machine.plan.nodeName}`,
      nodeName: machine.plan.nodeName,
      names: machine.kubeletNames(),
      signerName: 'example.com/serving',
    });
  }

  /** A person decides what is pending, without looking. */
  #decideByHand(): void {
    const request = this.#someRequest((object) => conditionTypes(object).length === 0);
    if (request === undefined) return;
    const { kubernetes, name } = request;
    const type = this.#random.chance(0.7) ? 'Approved' : 'Denied';
    this.#world.count(`${type.toLowerCase()} by hand`);
    this.#world.kubernetesOf(kubernetes).decideRequest(name, type, 'ByHand');
    if (type === 'Approved') this.#world.approved(kubernetes, name);
    else this.#world.requestChanged(kubernetes, name);
  }

  /** Somebody changes metadata of a request, or deletes it. */
  #meddle(): void {
    const request = this.#someRequest(() => true);
    if (request === undefined) return;
    const { kubernetes, name } = request;
    if (this.#random.chance(0.6)) {
      this.#world.count('request touched');
      this.#world.kubernetesOf(kubernetes).touchRequest(name);
    } else {
      this.#world.count('request deleted');
      this.#world.kubernetesOf(kubernetes).deleteRequest(name);
      this.#world.requestChanged(kubernetes, name);
    }
  }

  #someRequest(
    accepts: (object: ReturnType<SimulatedWorld['kubernetes'][number]['request']>) => boolean,
  ): { readonly kubernetes: number; readonly name: string } | undefined {
    const kubernetes = this.#random.int(0, this.#world.kubernetes.length - 1);
    const newest = this.#world.kubernetesOf(kubernetes).requests().filter(accepts).slice(-6);
    return newest.length === 0
      ? undefined
      : { kubernetes, name: this.#random.pick(newest).metadata.name };
  }

  /** Somebody else's name, a reserved one, or one that is nobody's. */
  #wantedName(intruder: PhysicalMachine): string {
    const plan = this.#world.planOf(intruder.plan.cluster);
    const others = [...this.#world.physical.values()].filter(
      (other) => other !== intruder && other.plan.cluster === plan.name,
    );
    const victim = others.length === 0 ? undefined : this.#random.pick(others);
    const reserved = [
      plan.vip,
      plan.endpoint === undefined ? undefined : new URL(plan.endpoint).hostname,
    ];
    return this.#random.pick([
      ...(victim?.kubeletNames() ?? []),
      ...(victim?.kubeletNames() ?? []),
      ...reserved.filter((name) => name !== undefined),
      '10.96.0.1',
      '10.244.3.4',
      `${plan.prefix}.7.9`,
      `${plan.prefix}.0.99`,
      `shared.${plan.name}.example`,
      'unknown.example',
    ]);
  }

  #submitAs(intruder: PhysicalMachine, names: readonly string[], kind: string): void {
    this.#world.count(kind);
    const { nodeName, cluster } = intruder.plan;
    this.#world.submit({
      kubernetes: this.#world.planOf(cluster).kubernetes,
      username: `system:node:${nodeName}`,
      nodeName,
      names: [...new Set(names)],
    });
  }

  #intruder(): PhysicalMachine | undefined {
    return this.#pickFrom(({ plan }) => plan.conduct !== 'honest');
  }

  #pickFrom(accepts: (machine: PhysicalMachine) => boolean): PhysicalMachine | undefined {
    const machines = [...this.#world.physical.values()].filter(accepts);
    return machines.length === 0 ? undefined : this.#random.pick(machines);
  }
}
