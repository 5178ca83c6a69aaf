import type { InMemoryNode } from '@ichor/talos-client/testing';

/** How a machine behaves: as it should, with its kubelet taken over, or with all of Talos taken over. */
export type Conduct = 'honest' | 'compromised' | 'lying';

/** What is fixed about a machine of a simulation. */
export interface MachineIdentityPlan {
  /** Name of its TalosMachine. */
  readonly name: string;
  readonly cluster: string;
  readonly machineType: 'controlplane' | 'worker';
  readonly nodeName: string;
  readonly conduct: Conduct;
}

/** What Talos truly gives a machine, as long as nothing changes. */
export interface TrueNames {
  readonly nodeIps: readonly string[];
  readonly externalAddresses: readonly string[];
  readonly platformNames: readonly string[];
  readonly domainname: string;
}

interface Period {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly names: ReadonlySet<string>;
}

/** A machine as it really is, whatever anybody says about it: the truth that decisions are held to. */
export class PhysicalMachine {
  readonly plan: MachineIdentityPlan;
  power: 'up' | 'down' | 'frozen' = 'up';
  /** What a machine that lies says instead. */
  lie: Partial<InMemoryNode> | undefined;
  #names: TrueNames;
  readonly #periods: Period[] = [];

  /** @param now milliseconds since the epoch */
  constructor(plan: MachineIdentityPlan, names: TrueNames, now: number) {
    this.plan = plan;
    this.#names = names;
    this.#begin(now);
  }

  get names(): TrueNames {
    return this.#names;
  }

  /** The address at which its Talos answers. */
  get address(): string {
    return this.#names.nodeIps[0] ?? '';
  }

  /** When its names last changed, in milliseconds since the epoch. */
  get changedAt(): number {
    return this.#periods.at(-1)?.from ?? 0;
  }

  change(names: Partial<TrueNames>, now: number): void {
    this.#names = { ...this.#names, ...names };
    this.#begin(now);
  }

  /** True where at one moment of the window all names were the machine's. */
  heldAll(names: readonly string[], from: number, to: number): boolean {
    return this.#periods.some((period, index) => {
      const end = this.#periods[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      return period.from <= to && end >= from && names.every((name) => period.names.has(name));
    });
  }

  /** True where the name was ever the machine's. */
  everHeld(name: string): boolean {
    return this.#periods.some(({ names }) => names.has(name));
  }

  /** True where the name is the machine's now. */
  holds(name: string): boolean {
    return this.#periods.at(-1)?.names.has(name) ?? false;
  }

  /** What its Talos answers. */
  said(excludeSubnets: readonly string[]): InMemoryNode {
    return {
      nodeName: this.plan.nodeName,
      ...this.#names,
      ...(this.plan.machineType === 'controlplane' ? { excludeSubnets } : {}),
      ...this.lie,
    };
  }

  /** What its kubelet asks for. */
  kubeletNames(): readonly string[] {
    const { nodeIps, externalAddresses, platformNames } = this.#names;
    return [this.plan.nodeName, ...platformNames, ...nodeIps, ...externalAddresses];
  }

  #begin(now: number): void {
    const { nodeIps, externalAddresses, platformNames, domainname } = this.#names;
    const { nodeName } = this.plan;
    const qualified = domainname === '' ? [] : [`${nodeName}.${domainname}`];
    this.#periods.push({
      from: now,
      names: new Set([nodeName, ...qualified, ...nodeIps, ...externalAddresses, ...platformNames]),
    });
  }
}
