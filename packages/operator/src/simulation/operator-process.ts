import {
  type Inventory,
  KubeError,
  type KubeErrorCode,
  type Parsed,
  type SigningCluster,
  type TalosCluster,
  type TalosMachine,
} from '@ichor/k8s-adapter';
import { fixedAccess, type TalosClient, TalosError } from '@ichor/talos-client';
import { Operator } from '../clusters/operator.ts';
import type { Clock } from '../runtime/clock.ts';
import { jsonLogger } from '../runtime/logger.ts';
import { LaggingWatch } from './lagging-watch.ts';
import { freshnessMs, type SafetyMonitor } from './safety-monitor.ts';
import type { SeededRandom } from './seeded-random.ts';
import { namesIn, type SimulatedWorld, secondKubeconfig } from './simulated-world.ts';

/** How often calls go wrong; each a probability per call. */
export interface FaultRates {
  readonly error: number;
  readonly lostAnswer: number;
  readonly slow: number;
  readonly crash: number;
  readonly talos: number;
}

/** Nothing goes wrong. */
export const noFaults: FaultRates = { error: 0, lostAnswer: 0, slow: 0, crash: 0, talos: 0 };

/** Longest that a slow call takes before it has its effect, in milliseconds. */
const slowMs = 2_000;

/** One life of the operator: from its start to its end or to its crash. */
export class OperatorProcess {
  rates: FaultRates = noFaults;
  /** Crashes at this call, counted from the start; `after` once it has taken effect. */
  crashAt: { readonly call: number; readonly after: boolean } | undefined;
  calls = 0;
  /** Writes decisions over whatever has changed meanwhile; for showing that it is noticed. */
  overwrites = false;
  readonly watches: LaggingWatch<never>[] = [];
  readonly #world: SimulatedWorld;
  readonly #monitor: SafetyMonitor;
  readonly #random: SeededRandom;
  readonly #skewMs: number;
  readonly #crashed: () => void;
  readonly #operator: Operator;
  readonly #close: (() => void)[] = [];
  readonly #seenClusters: {
    readonly at: number;
    readonly name: string;
    readonly cluster: TalosCluster;
  }[] = [];
  readonly #open = new Map<
    object,
    { readonly kubernetes: number; uidKnownAt: number | undefined }
  >();
  #dead = false;
  #stopped = false;

  /** @param crashed is called when the process has crashed by itself */
  constructor(
    world: SimulatedWorld,
    monitor: SafetyMonitor,
    random: SeededRandom,
    skewMs: number,
    crashed: () => void,
  ) {
    this.#world = world;
    this.#monitor = monitor;
    this.#random = random;
    this.#skewMs = skewMs;
    this.#crashed = crashed;
    this.#operator = new Operator({
      inventory: this.#inventory(),
      openOwnCluster: () => this.#signing(0),
      openCluster: (kubeconfig, source) => {
        if (kubeconfig !== secondKubeconfig)
          throw new Error(`${source} is no kubeconfig; mend it.`);
        return this.#signing(1);
      },
      defaultTalosAccess: fixedAccess({ endpoints: [], ca: '', crt: '', key: '' }),
      createTalosClient: () => this.#talos(),
      clock: this.#clock(),
      random: () => random.next(),
      logger: jsonLogger(
        (line) => this.#log(line),
        () => world.clock.now(),
      ),
    });
    this.#operator.start();
  }

  /** Ends the process at once: nothing of it happens any more, but what is on the wire may. */
  crash(): void {
    if (this.#dead) return;
    this.#dead = true;
    for (const close of this.#close) close();
  }

  /** Ends the operator as a signal does. */
  async stop(): Promise<void> {
    await this.#operator.stop();
    this.#stopped = true;
    this.crash();
  }

  #clock(): Clock {
    const { clock } = this.#world;
    return {
      now: () => clock.now() + this.#skewMs,
      after: (delayMs, task) => clock.after(delayMs, () => this.#dead || task()),
    };
  }

  #log(line: string): void {
    this.#world.say(`log ${line.trim().slice(45)}`);
    const { message, error } = JSON.parse(line) as { message: string; error?: string };
    if (message === 'a pass failed') this.#monitor.violated('pass-failed', error ?? '');
  }

  /** Makes a call, or lets it fail: before it has taken effect, or after. */
  async #call<T>(operation: string, effect: () => Promise<T>): Promise<T> {
    if (this.#stopped) this.#monitor.violated('after-stop', operation);
    if (this.#dead) return never();
    this.calls += 1;
    const { calls, rates } = this;
    const random = this.#random;
    if (random.chance(rates.slow)) {
      this.#count('slow call');
      await this.#world.wait(random.int(100, slowMs));
    }
    // What a process sent before it died may still arrive.
    if (this.#dead && random.chance(0.5)) return never();
    if (!this.#dead && this.#crashesAt(calls, false)) return never();
    if (random.chance(rates.error)) {
      const code = random.pick<KubeErrorCode>(['conflict', 'forbidden', 'unavailable', 'invalid']);
      this.#count(`error ${code}`);
      throw new KubeError(code, `${operation} failed (${code}).`);
    }
    const result = await effect();
    if (this.#dead || this.#crashesAt(calls, true)) return never();
    if (random.chance(rates.lostAnswer)) {
      this.#count('lost answer');
      throw new KubeError('unavailable', `The answer to ${operation} got lost.`);
    }
    return result;
  }

  #crashesAt(call: number, after: boolean): boolean {
    const planned = this.crashAt?.call === call && this.crashAt.after === after;
    if (!planned && !this.#random.chance(this.rates.crash)) return false;
    this.#count(`crash ${after ? 'after' : 'before'} a call`);
    this.crash();
    this.#crashed();
    return true;
  }

  #count(kind: string): void {
    this.#world.count(kind);
  }

  #watch<T>(
    source: ConstructorParameters<typeof LaggingWatch<T>>[0]['source'],
    versionOf: ConstructorParameters<typeof LaggingWatch<T>>[0]['versionOf'],
    seen?: (name: string, object: T | undefined) => void,
  ): LaggingWatch<T> {
    const watch = new LaggingWatch<T>({
      source,
      versionOf,
      clock: this.#world.clock,
      lagMs: () => (this.#random.chance(0.05) ? 400 : this.#random.int(0, 20)),
      ...(seen === undefined ? {} : { seen }),
    });
    this.watches.push(watch as unknown as LaggingWatch<never>);
    this.#close.push(() => watch.close());
    return watch;
  }

  #inventory(): Inventory {
    const world = this.#world;
    const inner = world.kubernetesOf(0).inventory();
    this.#close.push(() => inner.close());
    return {
      namespace: inner.namespace,
      clusters: this.#watch<Parsed<TalosCluster>>(
        inner.clusters,
        ({ value }) => value,
        (name, object) => {
          if (object?.kind !== 'valid') return;
          this.#seenClusters.push({ at: world.clock.now(), name, cluster: object.value });
        },
      ),
      machines: this.#watch<Parsed<TalosMachine>>(
        inner.machines,
        ({ value }) => value,
        (name, object) =>
          world.machineSeen(name, object?.kind === 'valid' ? object.value.spec : undefined),
      ),
      readSecret: (name) => this.#call(`readSecret ${name}`, () => inner.readSecret(name)),
      applyClusterStatus: (name, status) =>
        this.#call(`applyClusterStatus ${name}`, () => inner.applyClusterStatus(name, status)),
      applyMachineStatus: (name, status) =>
        this.#call(`applyMachineStatus ${name}`, async () => {
          await inner.applyMachineStatus(name, status);
          world.identityStored(name, namesIn(status.identity));
          const { kubeletServingCertificate } = status;
          world.say(`status of ${name}: ${JSON.stringify(status)}`);
          if (kubeletServingCertificate === undefined) return;
          this.#monitor.recordWritten(
            name,
            kubeletServingCertificate.fingerprint,
            namesIn(kubeletServingCertificate),
          );
        }),
      recordEvent: (event) => this.#call('recordEvent', () => inner.recordEvent(event)),
      close: () => inner.close(),
    };
  }

  #signing(number: number): SigningCluster {
    const world = this.#world;
    const kubernetes = world.kubernetesOf(number);
    const inner = kubernetes.signingCluster();
    const requests = this.#watch(inner.requests, (request) => request);
    const connection = {};
    this.#open.set(connection, { kubernetes: number, uidKnownAt: undefined });
    this.#close.push(() => inner.close());
    return {
      server: inner.server,
      requests,
      serverTime: () => inner.serverTime(),
      readClusterUid: async () => {
        const uid = await this.#call('readClusterUid', () => inner.readClusterUid());
        if (this.#open.has(connection)) {
          this.#open.set(connection, { kubernetes: number, uidKnownAt: world.clock.now() });
        }
        return uid;
      },
      writeDecision: (request, condition) => {
        const calledAt = world.clock.now();
        const sharedSince = this.#sharedSince(connection, number);
        return this.#call(`writeDecision ${request.name}`, async () => {
          const before = world.hasRequest(number, request.name)
            ? kubernetes.request(request.name)
            : undefined;
          let outcome = await inner.writeDecision(request, condition);
          if (outcome === 'conflict' && this.overwrites && before !== undefined) {
            const { type, reason, message } = condition;
            kubernetes.decideRequest(request.name, type, reason, message);
            outcome = 'written';
          }
          if (outcome !== 'written' || before === undefined) {
            this.#count(`write ${outcome}`);
            return outcome;
          }
          world.say(`${request.name} ${condition.type} ${condition.reason} ${condition.message}`);
          const cluster = this.#clusterOf(request.uid, number);
          this.#monitor.decisionWritten({
            cluster,
            kubernetes: number,
            before,
            type: condition.type,
            reason: condition.reason,
            message: condition.message,
            calledAt,
            seenClusters: this.#seenOf(cluster),
            sharedSince,
            processDied: this.#dead,
          });
          if (condition.type === 'Approved') world.approved(number, request.name);
          else world.requestChanged(number, request.name);
          return outcome;
        });
      },
      close: () => {
        this.#open.delete(connection);
        requests.close();
        inner.close();
      },
    };
  }

  /** Two connections to one API server, both known to be: since when, with time to act on it. */
  #sharedSince(connection: object, kubernetes: number): number | undefined {
    const own = this.#open.get(connection)?.uidKnownAt;
    const others = [...this.#open].filter(
      ([other, open]) => other !== connection && open.kubernetes === kubernetes,
    );
    const [, other] = others[0] ?? [];
    if (own === undefined || other?.uidKnownAt === undefined) return undefined;
    // Where one of them was switched off, the other one may go on.
    if ([...this.#world.options.values()].some(({ enabled }) => !enabled)) return undefined;
    // Who came second knew it before it began; who came first has to hear of it.
    return other.uidKnownAt <= own ? own : other.uidKnownAt + 15_000;
  }

  /** The cluster for which a request was decided: where two have one API server, its node tells. */
  #clusterOf(uid: string, kubernetes: number): string {
    const nodes = this.#world.machinesOf(kubernetes);
    const { username, nodeName } = this.#world.origins.get(uid) ?? {};
    const ofUser = nodes.find(({ plan }) => `system:node:${plan.nodeName}` === username);
    const named = nodes.find(({ plan }) => plan.nodeName === nodeName);
    return (ofUser ?? named)?.plan.cluster ?? '';
  }

  #seenOf(name: string): readonly TalosCluster[] {
    const since = this.#world.clock.now() - freshnessMs;
    const versions = this.#seenClusters.filter((seen) => seen.name === name);
    return versions
      .filter((_, index) => (versions[index + 1]?.at ?? Number.POSITIVE_INFINITY) >= since)
      .map(({ cluster }) => cluster);
  }

  #talos(): TalosClient {
    const { talos } = this.#world;
    return {
      readNodeFacts: async (target) => {
        if (this.#dead) return never();
        if (this.#random.chance(this.rates.talos)) {
          const code = this.#random.pick([
            'unreachable',
            'denied',
            'deadline',
            'protocol',
          ] as const);
          this.#count(`Talos ${code}`);
          await this.#world.wait(code === 'deadline' ? 5_000 : this.#random.int(1, 1_500));
          if (this.#dead) return never();
          throw new TalosError(code, target.address, `${target.address}: ${code}`);
        }
        const facts = await talos.readNodeFacts(target);
        if (this.#random.chance(this.rates.slow)) {
          this.#count('slow Talos answer');
          await this.#world.wait(this.#random.int(500, 4_500));
        }
        return this.#dead ? never() : facts;
      },
      close: () => undefined,
    };
  }
}

/** What a dead process waits for. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
