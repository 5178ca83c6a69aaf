import { kubeletServingSigner } from '@ichor/k8s-adapter';
import type { PhysicalMachine } from './physical-machine.ts';
import type { SeededRandom } from './seeded-random.ts';
import { conditionTypes, type SimulatedWorld } from './simulated-world.ts';

/** A kubelet makes a new key and request when it has waited for so long, in milliseconds. */
const patienceMs = 15 * 60_000;

/**
 * The kubelet of one machine. It asks until it has a certificate for the names it has, waits after
 * each denial (2, 4, 8, 16, then 32 seconds), gives up a request after 15 minutes, asks anew when
 * its names change and before its certificate ends. (Kubernetes: client-go/util/certificate)
 */
export class Kubelet {
  readonly machine: PhysicalMachine;
  /** The request it waits for. */
  outstanding: string | undefined;
  /** The names of the certificate that it serves. */
  certified: readonly string[] | undefined;
  /** The request through which it got it. */
  certifiedBy: string | undefined;
  readonly #world: SimulatedWorld;
  readonly #random: SeededRandom;
  readonly #kubernetes: number;
  #asked: readonly string[] = [];
  #denials = 0;
  #cancel: () => void = () => undefined;

  constructor(world: SimulatedWorld, machine: PhysicalMachine, random: SeededRandom) {
    this.#world = world;
    this.machine = machine;
    this.#random = random;
    this.#kubernetes = world.planOf(machine.plan.cluster).kubernetes;
    this.#askIn(random.int(0, 10_000));
  }

  /** True while it has a certificate for all that it is. */
  get satisfied(): boolean {
    return this.certified?.join() === this.machine.kubeletNames().join();
  }

  /** The machine has started or has other names. */
  restart(): void {
    this.outstanding = undefined;
    this.#denials = 0;
    if (!this.satisfied) this.#askIn(this.#random.int(0, 3_000));
  }

  /** Looks at its request after something happened to it. */
  look(kubernetes: number, name: string): void {
    if (kubernetes !== this.#kubernetes || name !== this.outstanding) return;
    if (!this.#world.hasRequest(kubernetes, name)) {
      this.#again();
      return;
    }
    const request = this.#world.kubernetesOf(kubernetes).request(name);
    const status = request['status'] as { readonly certificate?: string } | undefined;
    if ((status?.certificate ?? '') !== '') {
      this.outstanding = undefined;
      this.#denials = 0;
      this.certifiedBy = name;
      this.certified = this.#asked;
      // Renewals come sooner than in life, so that a simulation sees them.
      this.#askIn(this.satisfied ? this.#random.int(8, 40) * 60_000 : 1_000);
    } else if (conditionTypes(request).includes('Denied')) this.#again();
  }

  #again(): void {
    this.outstanding = undefined;
    this.#denials += 1;
    this.#askIn(2_000 * 2 ** Math.min(this.#denials - 1, 4));
  }

  #askIn(ms: number): void {
    this.#cancel();
    this.#cancel = this.#world.clock.after(ms, () => this.#ask());
  }

  #ask(): void {
    // A machine that is off asks nothing; it is restarted when it is on again.
    if (this.machine.power === 'down') return;
    this.#asked = this.machine.kubeletNames();
    const { nodeName, conduct } = this.machine.plan;
    this.outstanding = this.#world.submit({
      kubernetes: this.#kubernetes,
      username: `system:node:${nodeName}`,
      nodeName,
      names: this.#asked,
      machine: this.machine,
      honest: conduct === 'honest',
      signerName: kubeletServingSigner,
    });
    this.#askIn(patienceMs);
  }
}
