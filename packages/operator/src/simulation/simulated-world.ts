import { isIP } from 'node:net';
import { type KubeObject, kubeletServingSigner } from '@ichor/k8s-adapter';
import { type InMemoryKubernetes, inMemoryKubernetes } from '@ichor/k8s-adapter/testing';
import {
  buildRequest,
  dnsEntry,
  type GeneralName,
  ipEntry,
  poolKey,
} from '@ichor/policy/testing/builder';
import {
  type InMemoryTalos,
  inMemoryTalos,
  issueCertificate,
  makeCertificateAuthority,
  talosconfigText,
} from '@ichor/talos-client/testing';
import { issueServingCertificate } from '../demo/demo-signer.ts';
import type { VirtualClock } from '../testing/virtual-clock.ts';
import { PhysicalMachine } from './physical-machine.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { simulationClock } from './simulation-clock.ts';
import { type ClusterPlan, excludedIn, type MachinePlan, planWorld } from './world-plan.ts';

/** Who made a request and for what. */
export interface RequestOrigin {
  readonly username: string;
  /** Node in the common name. */
  readonly nodeName: string;
  readonly names: readonly string[];
  /** The machine whose own kubelet asked; undefined for intruders. */
  readonly machine: PhysicalMachine | undefined;
  /** True where an honest kubelet asked for exactly what its machine has. */
  readonly honest: boolean;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A request as somebody submits it. */
export interface Submission {
  readonly kubernetes: number;
  readonly username: string;
  readonly groups?: readonly string[];
  /** Node in the common name. */
  readonly nodeName: string;
  readonly names: readonly string[];
  readonly machine?: PhysicalMachine;
  readonly honest?: boolean;
  readonly signerName?: string;
}

/** Options of a cluster that change while a simulation runs. */
export interface ClusterOptions {
  readonly enabled: boolean;
  readonly unknownNames: 'Deny' | 'Pending';
  readonly extraDNSNames: readonly string[];
  readonly extraSubnets: readonly string[];
  readonly reservedSubnets: readonly string[];
}

/** What the inventory says about a machine. */
export interface MachineSpec {
  readonly clusterRef: { readonly name: string };
  readonly machineType: 'controlplane' | 'worker';
  readonly address: string;
  readonly hostname?: string;
}

/** Text of the Secret that leads to the second Kubernetes. */
export const secondKubeconfig = 'kubernetes 1';

const endless = Number.POSITIVE_INFINITY;
const start = Date.parse('2026-12-01T12:00:00Z');
const ca = makeCertificateAuthority();
const { crt, key } = issueCertificate(ca, {
  subject: { organizations: ['os:reader'] },
  notBefore: new Date(start - 86_400_000),
  notAfter: new Date(start + 86_400_000_000),
});
const talosconfig = talosconfigText({ endpoints: ['10.5.0.2'], ca: ca.crt, crt, key });

/** Everything outside of the operator: clusters, machines, requests, and what is true about them. */
export class SimulatedWorld {
  readonly clock: VirtualClock = simulationClock(start);
  readonly startedAt = start;
  readonly random: SeededRandom;
  readonly clusters: readonly ClusterPlan[];
  readonly kubernetes: readonly InMemoryKubernetes[];
  readonly talos: InMemoryTalos;
  /** By name of the TalosMachine, those that were taken out of the inventory included. */
  readonly physical = new Map<string, PhysicalMachine>();
  /** By uid of the request. */
  readonly origins = new Map<string, RequestOrigin>();
  /** How often each kind of fault or event happened. */
  readonly counts = new Map<string, number>();
  readonly options = new Map<string, ClusterOptions>();
  /** Told what happens, with its time, for a person who follows one run. */
  trace: ((line: string) => void) | undefined;
  /** Called when something about a request has changed. */
  requestChanged: (kubernetes: number, name: string) => void = () => undefined;
  readonly #sans = new Map<string, { nodeName: string; san: GeneralName[]; key: number }>();
  readonly #specs = new Map<string, { spec: MachineSpec; at: number }>();
  readonly #seen = new Map<string, { spec: string; since: number }>();
  readonly #extras = new Map<string, Set<string>>();
  readonly #wasPending = new Set<string>();
  readonly #signingMs: number;
  #stored: { readonly machine: string; readonly names: readonly string[]; until: number }[] = [];
  readonly #addresses = new Map<string, ReadonlySet<string>>();
  readonly #removedAt = new Map<string, number>();
  #disturbedAt = 0;
  #requests = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    // The signer takes them one after the other, so that it is equally late for all.
    this.#signingMs = this.random.pick([50, 500, 2_000, 20_000]);
    const latency = this.random.fork();
    this.clusters = planWorld(this.random.fork());
    this.kubernetes = [0, 1].map((number) =>
      inMemoryKubernetes({
        now: () => this.clock.now(),
        clusterUid: `cluster-${number}`,
        server: `https://kubernetes-${number}.example:6443`,
      }),
    );
    this.talos = inMemoryTalos({
      latency: () => this.wait(latency.int(1, 80)),
      frozenWait: () => this.wait(5_000),
    });
    const home = this.kubernetesOf(0);
    home.setSecret('edge-kube', { kubeconfig: secondKubeconfig });
    home.setSecret('edge-talos', { config: talosconfig });
    for (const plan of this.clusters) {
      const { name, unknownNames, extraDNSNames, extraSubnets } = plan;
      const options = {
        enabled: true,
        unknownNames,
        extraDNSNames,
        extraSubnets,
        reservedSubnets: [],
      };
      home.createCluster(name, this.#clusterSpec(plan, options));
      this.#noteOptions(name, options);
      for (const machine of plan.machines) this.addMachine(machine);
    }
  }

  kubernetesOf(number: number): InMemoryKubernetes {
    const kubernetes = this.kubernetes[number];
    if (kubernetes === undefined) throw new Error(`there is no Kubernetes ${number}`);
    return kubernetes;
  }

  planOf(cluster: string): ClusterPlan {
    const plan = this.clusters.find(({ name }) => name === cluster);
    if (plan === undefined) throw new Error(`there is no cluster ${cluster}`);
    return plan;
  }

  /** Notes that a fault or an event of this kind happened. */
  count(kind: string, detail = ''): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    this.say(`${kind} ${detail}`);
  }

  say(what: string): void {
    this.trace?.(`${((this.clock.now() - this.startedAt) / 1_000).toFixed(3)} ${what}`);
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.after(ms, resolve);
    });
  }

  /** Puts a machine there, and into the inventory. */
  addMachine(plan: MachinePlan): PhysicalMachine {
    const machine = new PhysicalMachine(plan, plan.names, this.clock.now());
    this.physical.set(plan.name, machine);
    this.powerUp(machine);
    this.putIntoInventory(plan.name, {
      clusterRef: { name: plan.cluster },
      machineType: plan.machineType,
      address: machine.address,
      ...(plan.hostname === undefined ? {} : { hostname: plan.hostname }),
    });
    return machine;
  }

  putIntoInventory(name: string, spec: MachineSpec): void {
    this.say(`inventory: ${name} ${JSON.stringify(spec)} ${this.physical.get(name)?.plan.conduct}`);
    this.kubernetesOf(0).createMachine(name, spec);
    this.#noteSpec(name, spec);
  }

  changeInventory(name: string, change: Partial<MachineSpec>): void {
    const known = this.#specs.get(name);
    if (known === undefined) return;
    const spec = { ...known.spec, ...change };
    this.say(`inventory: ${name} ${JSON.stringify(spec)}`);
    this.kubernetesOf(0).updateMachine(name, spec);
    this.#noteSpec(name, spec);
  }

  removeFromInventory(name: string): void {
    this.#removedAt.set(name, this.clock.now());
    this.#stored = this.#stored.filter(({ machine }) => machine !== name);
    this.say(`inventory: ${name} removed`);
    if (this.#specs.delete(name)) this.kubernetesOf(0).deleteMachine(name);
  }

  inventorySpec(name: string): MachineSpec | undefined {
    return this.#specs.get(name)?.spec;
  }

  /** Makes Talos of a machine answer as it is now. */
  powerUp(machine: PhysicalMachine): void {
    machine.power = 'up';
    this.say(
      `${machine.plan.name} answers at ${machine.address}, lie ${JSON.stringify(machine.lie)}`,
    );
    this.talos.setFault(machine.address, undefined);
    this.talos.setNode(
      machine.address,
      machine.said(excludedIn(this.planOf(machine.plan.cluster))),
    );
  }

  powerOff(machine: PhysicalMachine, how: 'down' | 'frozen'): void {
    machine.power = how;
    if (how === 'frozen') this.talos.setFault(machine.address, 'frozen');
    else this.talos.removeNode(machine.address);
  }

  /** Gives a machine another first address; its Talos answers there from now on. */
  move(machine: PhysicalMachine, address: string): void {
    this.talos.removeNode(machine.address);
    this.talos.setFault(machine.address, undefined);
    machine.change({ nodeIps: [address, ...machine.names.nodeIps.slice(1)] }, this.clock.now());
    if (machine.power === 'up') this.powerUp(machine);
    else if (machine.power === 'frozen') this.talos.setFault(address, 'frozen');
  }

  setOptions(cluster: string, change: Partial<ClusterOptions>): void {
    const before = this.options.get(cluster);
    if (before === undefined) return;
    const options = { ...before, ...change };
    this.kubernetesOf(0).updateCluster(cluster, this.#clusterSpec(this.planOf(cluster), options));
    this.#noteOptions(cluster, options);
  }

  breakSecret(): void {
    if (this.random.chance(0.5)) this.kubernetesOf(0).setSecret('edge-kube', { kubeconfig: '{' });
    else this.kubernetesOf(0).setSecret('edge-kube', { other: '' });
  }

  mendSecret(): void {
    this.kubernetesOf(0).setSecret('edge-kube', { kubeconfig: secondKubeconfig });
  }

  /** Creates a request and returns its name. */
  submit(submission: Submission): string {
    this.#requests += 1;
    const name = `csr-${this.#requests}`;
    const { kubernetes, username, nodeName, names, machine, honest = false } = submission;
    const keyNumber = this.#requests % 5;
    const san = names.map((text) => (isIP(text) === 0 ? dnsEntry(text) : ipEntry(text)));
    const { spec } = buildRequest({
      nodeName,
      san,
      username,
      key: poolKey('P-256', keyNumber),
      ...(submission.groups === undefined ? {} : { groups: submission.groups }),
    });
    const stored = this.kubernetesOf(kubernetes).createRequest({
      name,
      username,
      groups: spec.groups ?? [],
      request: spec.request ?? '',
      signerName: submission.signerName ?? kubeletServingSigner,
    });
    this.say(`${name}: ${username} (${nodeName}) asks ${kubernetes} for ${names.join(' ')}`);
    this.#sans.set(name, { nodeName, san, key: keyNumber });
    this.origins.set(stored.metadata.uid, {
      username,
      nodeName,
      names,
      machine,
      honest,
      createdAt: this.clock.now(),
    });
    return name;
  }

  /** Plays the signer for a request that was approved: it signs a moment later. */
  approved(kubernetes: number, name: string): void {
    this.requestChanged(kubernetes, name);
    const asked = this.#sans.get(name);
    if (asked === undefined) return;
    this.clock.after(this.#signingMs, () => {
      if (!this.hasRequest(kubernetes, name)) return;
      const pem = issueServingCertificate({
        nodeName: asked.nodeName,
        san: asked.san,
        spki: poolKey('P-256', asked.key).spki,
        now: this.clock.now(),
      });
      this.say(`${name} is signed`);
      this.kubernetesOf(kubernetes).issueCertificate(name, pem);
      this.requestChanged(kubernetes, name);
    });
  }

  /** How many requests nobody has decided. */
  undecided(): number {
    return this.kubernetes
      .flatMap((kubernetes) => kubernetes.requests())
      .filter((request) => conditionTypes(request).length === 0).length;
  }

  hasRequest(kubernetes: number, name: string): boolean {
    return this.kubernetesOf(kubernetes)
      .requests()
      .some(({ metadata }) => metadata.name === name);
  }

  /** The machines whose kubelets ask this Kubernetes. */
  machinesOf(kubernetes: number): readonly PhysicalMachine[] {
    return [...this.physical.values()].filter(
      ({ plan }) => this.planOf(plan.cluster).kubernetes === kubernetes,
    );
  }

  storedCluster(
    name: string,
  ): { enabled: boolean; generation: number; observedGeneration: number | undefined } | undefined {
    const object = this.kubernetesOf(0).cluster(name);
    const status = object['status'] as { observedGeneration?: number } | undefined;
    return {
      enabled: this.options.get(name)?.enabled ?? false,
      generation: object.metadata.generation ?? 0,
      observedGeneration: status?.observedGeneration,
    };
  }

  machineStatus(name: string): Readonly<Record<string, unknown>> {
    if (!this.#specs.has(name)) return {};
    return (this.kubernetesOf(0).machine(name)['status'] ?? {}) as Record<string, unknown>;
  }

  /** The status of a TalosMachine was written with these names. */
  identityStored(machine: string, names: readonly string[]): void {
    const kept = this.#stored.filter(({ until }) => until > this.clock.now() - 60_000);
    const before = kept.find((one) => one.machine === machine && one.until === endless);
    if (before !== undefined) before.until = this.clock.now();
    this.#stored = [...kept, { machine, names, until: endless }];
  }

  /** True where names are, or were since then, in the status of some machine of the cluster. */
  isStored(cluster: string, names: readonly string[], since: number): boolean {
    return this.#stored.some(
      (stored) =>
        this.#specs.get(stored.machine)?.spec.clusterRef.name === cluster &&
        stored.until >= since &&
        names.every((name) => stored.names.includes(name)),
    );
  }

  /** When a TalosMachine was last deleted, in milliseconds since the epoch. */
  removedAt(machine: string): number {
    return this.#removedAt.get(machine) ?? Number.NEGATIVE_INFINITY;
  }

  /** The machines that a TalosMachine may stand for: its own, and what was at its addresses. */
  ownersOf(machine: string): readonly PhysicalMachine[] {
    const addresses = [...(this.#addresses.get(machine) ?? [])];
    return [...this.physical.values()].filter(
      (physical) =>
        physical.plan.name === machine || addresses.some((address) => physical.everHeld(address)),
    );
  }

  /** The names that the status of a TalosMachine keeps. */
  storedIdentity(name: string): readonly string[] {
    return namesIn(this.machineStatus(name)['identity']);
  }

  /** The operator has taken over this object of the inventory, or learned that it is gone. */
  machineSeen(name: string, spec: unknown): void {
    const spelled = JSON.stringify(spec ?? {});
    if (this.#seen.get(name)?.spec === spelled) return;
    this.#seen.set(name, { spec: spelled, since: this.clock.now() });
  }

  /** True where the operator has known for this long that the inventory gives the name to it. */
  inventoryGives(machine: PhysicalMachine, name: string, forMs: number): boolean {
    const known = this.#specs.get(machine.plan.name);
    const seen = this.#seen.get(machine.plan.name);
    if (known === undefined || seen === undefined) return false;
    const { address, hostname } = known.spec;
    const gives = (address === name || hostname === name) && seen.spec.includes(`"${name}"`);
    return gives && this.clock.now() - Math.max(known.at, seen.since) > forMs;
  }

  /** A watch was held back until now. */
  disturbed(): void {
    this.#disturbedAt = this.clock.now();
  }

  /** True where what the inventory says, or what is seen of it, was not in order since then. */
  disturbedSince(machine: PhysicalMachine, at: number): boolean {
    const known = this.#specs.get(machine.plan.name);
    return (
      known === undefined ||
      known.at > at ||
      known.spec.address !== machine.address ||
      this.#disturbedAt > at ||
      [...this.#specs.values()].some((other) => other.at > at)
    );
  }

  /** True where another machine of the cluster is said to have the name, rightly or not. */
  isClaimed(name: string, machine: PhysicalMachine): boolean {
    const { cluster } = machine.plan;
    const inCluster = [...this.#specs].filter(
      ([other, { spec }]) => other !== machine.plan.name && spec.clusterRef.name === cluster,
    );
    if (inCluster.some(([, { spec }]) => spec.address === name || spec.hostname === name))
      return true;
    const own = this.#specs.get(machine.plan.name)?.spec;
    // What the inventory gives to one machine alone is its own, whatever others report.
    if (own?.address === name || own?.hostname === name) return false;
    return inCluster.some(([other]) => {
      const physical = this.physical.get(other);
      return (
        this.storedIdentity(other).includes(name) ||
        physical?.everHeld(name) === true ||
        JSON.stringify(physical?.lie ?? {}).includes(`"${name}"`)
      );
    });
  }

  /** True where unknown names were ever left to a person. */
  wasPending(cluster: string): boolean {
    return this.#wasPending.has(cluster);
  }

  /** True where the cluster ever gave the name, or the range that it is in, to all its machines. */
  wasExtra(cluster: string, name: string): boolean {
    return [...(this.#extras.get(cluster) ?? [])].some(
      (entry) => entry === name || (entry.endsWith('.0/24') && name.startsWith(entry.slice(0, -4))),
    );
  }

  #noteSpec(name: string, spec: MachineSpec): void {
    this.#specs.set(name, { spec, at: this.clock.now() });
    this.#addresses.set(name, new Set([...(this.#addresses.get(name) ?? []), spec.address]));
  }

  #noteOptions(cluster: string, options: ClusterOptions): void {
    this.say(`options of ${cluster}: ${JSON.stringify(options)}`);
    this.options.set(cluster, options);
    const extras = this.#extras.get(cluster) ?? new Set();
    for (const extra of [...options.extraDNSNames, ...options.extraSubnets]) extras.add(extra);
    this.#extras.set(cluster, extras);
    if (options.unknownNames === 'Pending') this.#wasPending.add(cluster);
    this.#disturbedAt = this.clock.now();
  }

  #clusterSpec(plan: ClusterPlan, options: ClusterOptions): unknown {
    const { enabled, unknownNames, extraDNSNames, extraSubnets, reservedSubnets } = options;
    const remote = plan.kubernetes > 0;
    return {
      ...(remote ? { talos: { talosconfigSecretRef: { name: 'edge-talos' } } } : {}),
      kubernetes: {
        ...(plan.endpoint === undefined ? {} : { endpoint: plan.endpoint }),
        ...(remote ? { kubeconfigSecretRef: { name: 'edge-kube' } } : {}),
      },
      security: {
        kubeletServingCertificates: { enabled, unknownNames, extraDNSNames, extraSubnets },
      },
      reserved: { subnets: reservedSubnets },
    };
  }
}

/** Names in an identity of a status, or in a record: whatever it has of them. */
export function namesIn(part: unknown): readonly string[] {
  const { dnsNames = [], ipAddresses = [] } = (part ?? {}) as {
    dnsNames?: readonly (string | { value: string })[];
    ipAddresses?: readonly (string | { value: string })[];
  };
  return [...dnsNames, ...ipAddresses].map((name) =>
    typeof name === 'string' ? name : name.value,
  );
}

/** The object's conditions, by type. */
export function conditionTypes(object: KubeObject): readonly string[] {
  const status = object['status'] as { conditions?: readonly { type: string }[] } | undefined;
  return (status?.conditions ?? []).map(({ type }) => type);
}
