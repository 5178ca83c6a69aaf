import {
  type InMemoryKubernetes,
  type InMemoryKubernetesOptions,
  inMemoryKubernetes,
} from '@ichor/k8s-adapter/testing';
import {
  buildRequest,
  dnsEntry,
  type GeneralName,
  ipEntry,
  poolKey,
  type RequestChanges,
} from '@ichor/policy/testing/builder';
import { fixedAccess } from '@ichor/talos-client';
import { type InMemoryNode, type InMemoryTalos, inMemoryTalos } from '@ichor/talos-client/testing';
import { Operator } from '../clusters/operator.ts';
import { issueServingCertificate } from '../demo/demo-signer.ts';
import { jsonLogger } from '../runtime/logger.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

/** One machine of a world. */
export interface WorldMachine {
  readonly name: string;
  readonly machineType?: 'controlplane' | 'worker';
  readonly address: string;
  /** Null: the inventory states none. Default: the name. */
  readonly hostname?: string | null;
  /** Null: nothing answers at the address. Default: a node that says what the inventory says. */
  readonly node?: Partial<InMemoryNode> | null;
  readonly cluster?: string;
}

/** One line of the operator's log. */
export interface LogLine {
  readonly message: string;
  readonly request?: string;
  readonly uid?: string;
  readonly kind?: string;
  readonly reasons?: readonly string[];
  readonly [field: string]: unknown;
}

/** A condition of a CSR or of a TalosCluster. */
export interface SeenCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Options of a world. */
export interface WorldOptions extends InMemoryKubernetesOptions {
  readonly machines?: readonly WorldMachine[];
  /** `spec.security.kubeletServingCertificates` of cluster `lab`. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Other parts of the spec of cluster `lab`. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly latencyMs?: number;
}

const start = Date.parse('2026-12-01T12:00:00Z');
const frozenMs = 5_000;

/** Pod and service ranges and the VIP, as the control planes of a world exclude them. */
export const excludeSubnets = ['10.244.0.0/16', '10.96.0.0/12', '10.5.0.100'];

/** The usual machines: one control plane and two workers. */
export const usualMachines: readonly WorldMachine[] = [
  { name: 'cp-1', machineType: 'controlplane', address: '10.5.0.2' },
  { name: 'worker-1', address: '10.5.0.11' },
  { name: 'worker-2', address: '10.5.0.12' },
];

/** The operator with a Kubernetes and a Talos in memory, and time that a test moves. */
export class OperatorWorld {
  readonly kubernetes: InMemoryKubernetes;
  readonly talos: InMemoryTalos;
  readonly clock: VirtualClock = virtualClock(start);
  readonly log: LogLine[] = [];
  readonly #sans = new Map<
    string,
    { readonly node: string; readonly san: readonly GeneralName[] }
  >();
  readonly #options: Readonly<Record<string, unknown>>;
  #spec: Readonly<Record<string, unknown>>;
  #operator: Operator | undefined;

  constructor(given: WorldOptions = {}) {
    this.kubernetes = inMemoryKubernetes({
      now: () => this.clock.now(),
      sign: (object) => {
        const asked = this.#sans.get(object.metadata.name ?? '');
        if (asked === undefined) return undefined;
        const { node: nodeName, san } = asked;
        return issueServingCertificate({
          nodeName,
          san,
          spki: poolKey('P-256').spki,
          now: this.clock.now(),
        });
      },
      ...given,
    });
    this.talos = inMemoryTalos({
      frozenWait: () => this.#wait(frozenMs),
      ...(given.latencyMs === undefined ? {} : { latency: () => this.#wait(given.latencyMs ?? 0) }),
    });
    this.#options = { enabled: true, ...given.options };
    this.#spec = {
      kubernetes: { endpoint: 'https://api.lab.example:6443' },
      ...given.spec,
    };
    this.kubernetes.createCluster('lab', this.#clusterSpec(this.#options));
    for (const machine of given.machines ?? usualMachines) this.addMachine(machine);
  }

  addMachine(machine: WorldMachine): void {
    const { name, machineType = 'worker', address, hostname = name } = machine;
    this.kubernetes.createMachine(name, {
      clusterRef: { name: machine.cluster ?? 'lab' },
      machineType,
      address,
      ...(hostname === null ? {} : { hostname }),
    });
    if (machine.node === null) return;
    this.setNode(machine, machine.node ?? {});
  }

  /** Sets what the node of a machine says. */
  setNode({ name, address, machineType }: WorldMachine, said: Partial<InMemoryNode>): void {
    this.talos.setNode(address, {
      nodeName: name,
      nodeIps: [address],
      ...(machineType === 'controlplane' ? { excludeSubnets } : {}),
      ...said,
    });
  }

  /** Replaces options of cluster `lab`. */
  setOptions(options: Readonly<Record<string, unknown>>): void {
    this.kubernetes.updateCluster('lab', this.#clusterSpec({ ...this.#options, ...options }));
  }

  /** Starts the operator; time does not pass. */
  start(): void {
    this.#operator = new Operator({
      inventory: this.kubernetes.inventory(),
      openOwnCluster: () => this.kubernetes.signingCluster(),
      openCluster: () => this.kubernetes.signingCluster(),
      defaultTalosAccess: fixedAccess({ endpoints: [], ca: '', crt: '', key: '' }),
      // The world outlives each operator; so does its Talos.
      createTalosClient: () => ({
        readNodeFacts: (target) => this.talos.readNodeFacts(target),
        close: () => undefined,
      }),
      clock: this.clock,
      random: () => 0.5,
      logger: jsonLogger(
        (line) => this.log.push(JSON.parse(line) as LogLine),
        () => this.clock.now(),
      ),
    });
    this.#operator.start();
  }

  /** Lets time pass. */
  async run(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  /** Ends the operator; all that it knew is gone. */
  async stop(): Promise<void> {
    const stopped = this.#operator?.stop();
    await this.clock.advance(frozenMs);
    await stopped;
  }

  /** Creates a request of a node: its own name and the given addresses, with changes. */
  request(
    name: string,
    node: string,
    names: readonly string[],
    changes: RequestChanges = {},
  ): void {
    const san = changes.san ?? [
      dnsEntry(node),
      ...names.map((text) => (/[:]|^[\d.]+$/.test(text) ? ipEntry(text) : dnsEntry(text))),
    ];
    const { spec } = buildRequest({ nodeName: node, san, ...changes });
    this.#sans.set(name, { node, san });
    this.kubernetes.createRequest({
      name,
      username: spec.username ?? '',
      groups: spec.groups ?? [],
      request: spec.request ?? '',
      usages: spec.usages ?? [],
      signerName: spec.signerName ?? '',
    });
  }

  /** The conditions of a request. */
  conditions(request: string): readonly SeenCondition[] {
    return conditionsOf(this.kubernetes.request(request)['status']);
  }

  /** How a request ended: the type and the reason of its condition; undefined while it is pending. */
  outcome(request: string): string | undefined {
    const [condition] = this.conditions(request);
    return condition === undefined ? undefined : `${condition.type} ${condition.reason}`;
  }

  /** The reasons of the last decision that was logged about a request. */
  logged(request: string): readonly string[] | undefined {
    return this.log.findLast(
      (line) => line.message === 'request decided' && line.request === request,
    )?.reasons;
  }

  /** A condition of a TalosCluster. */
  clusterCondition(type: string, cluster = 'lab'): SeenCondition | undefined {
    return conditionsOf(this.kubernetes.cluster(cluster)['status']).find((c) => c.type === type);
  }

  /** The status of a TalosMachine. */
  machineStatus(machine: string): Record<string, unknown> {
    return (this.kubernetes.machine(machine)['status'] ?? {}) as Record<string, unknown>;
  }

  #clusterSpec(options: Readonly<Record<string, unknown>>): unknown {
    return { ...this.#spec, security: { kubeletServingCertificates: options } };
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.after(ms, resolve);
    });
  }
}

function conditionsOf(status: unknown): readonly SeenCondition[] {
  return (
    (status as { readonly conditions?: readonly SeenCondition[] } | undefined)?.conditions ?? []
  );
}
