import { type InMemoryKubernetes, inMemoryKubernetes } from '@ichor/k8s-adapter/testing';
import { buildRequest, poolKey } from '@ichor/policy/testing/builder';
import { fixedAccess } from '@ichor/talos-client';
import { type InMemoryTalos, inMemoryTalos } from '@ichor/talos-client/testing';
import { Operator } from '../clusters/operator.ts';
import { systemClock } from '../runtime/clock.ts';
import { jsonLogger } from '../runtime/logger.ts';
import { demoClusterName, demoClusterSpec, demoMachines } from './demo-cluster.ts';
import { type DemoRequest, demoRequests } from './demo-requests.ts';
import { issueServingCertificate } from './demo-signer.ts';
import { type OutcomeRow, outcomeTable } from './outcome-table.ts';

/** Where the demonstration writes to. */
export interface DemoOutput {
  readonly write: (text: string) => void;
  /** Width of the terminal in characters. */
  readonly columns: number;
  readonly colour: boolean;
}

interface LoggedDecision {
  readonly kind: string;
  readonly reasons: readonly string[];
  readonly detail: string;
}

const patienceMs = 10_000;
const pollMs = 20;

/**
 * Runs the real operator against a Kubernetes and a Talos in memory and shows what becomes of each
 * request.
 *
 * @returns how many outcomes were not the expected ones
 */
export async function runDemo(output: DemoOutput): Promise<number> {
  const startedAt = Date.now();
  const log = new Map<string, LoggedDecision>();
  const kubernetes = inMemoryKubernetes({
    server: 'https://10.5.0.2:6443',
    now: () => startedAt,
    sign: (object) => {
      const request = demoRequests.find(({ name }) => name === object.metadata.name);
      if (request === undefined) return undefined;
      return issueServingCertificate({
        nodeName: request.node,
        san: request.san,
        spki: poolKey('P-256').spki,
        now: startedAt,
      });
    },
  });
  const talos = inMemoryTalos();
  kubernetes.createCluster(demoClusterName, demoClusterSpec);
  for (const { name, machineType, address, node } of demoMachines) {
    const spec = { clusterRef: { name: demoClusterName }, machineType, address, hostname: name };
    kubernetes.createMachine(name, spec);
    if (node !== undefined) talos.setNode(address, node);
  }
  const operator = new Operator({
    inventory: kubernetes.inventory(),
    openOwnCluster: () => kubernetes.signingCluster(),
    openCluster: () => kubernetes.signingCluster(),
    defaultTalosAccess: fixedAccess({ endpoints: [], ca: '', crt: '', key: '' }),
    createTalosClient: () => talos,
    clock: systemClock,
    random: () => 0.5,
    logger: jsonLogger((line) => noteDecision(line, log), Date.now),
  });

  output.write(
    `Cluster ${demoClusterName}: ${demoMachines.map(({ name }) => name).join(', ')}; worker-4 does not answer.\n\n`,
  );
  for (const request of demoRequests) create(kubernetes, request);
  operator.start();
  const wanted = demoRequests.filter(({ expected }) => expected.kind !== 'untouched');
  await until(() => wanted.every(({ name }) => log.has(name)));
  const rows = demoRequests.map((request) => rowOf(request, kubernetes, log));
  output.write(outcomeTable(rows, output.columns, output.colour));

  output.write('\nworker-4 is started again:\n\n');
  const revived = await revive(kubernetes, talos);
  output.write(outcomeTable([revived], output.columns, output.colour));

  const certified = await until(() => certifiedMachines(kubernetes) === 4);
  await operator.stop();
  output.write(summary(kubernetes));
  return [...rows, revived].filter(({ asExpected }) => !asExpected).length + (certified ? 0 : 1);
}

function create(kubernetes: InMemoryKubernetes, demo: DemoRequest): void {
  const { spec } = buildRequest({ nodeName: demo.node, san: demo.san, ...demo.changes });
  kubernetes.createRequest({
    name: demo.name,
    username: spec.username ?? '',
    groups: spec.groups ?? [],
    request: spec.request ?? '',
    usages: spec.usages ?? [],
    signerName: spec.signerName ?? '',
  });
}

/** The node that did not answer does now, and its kubelet's request is tried again by itself. */
async function revive(kubernetes: InMemoryKubernetes, talos: InMemoryTalos): Promise<OutcomeRow> {
  talos.setNode('10.5.0.14', { nodeName: 'worker-4', nodeIps: ['10.5.0.14'] });
  const name = 'node-does-not-answer';
  await until(() => conditionOf(kubernetes, name) !== undefined);
  const condition = conditionOf(kubernetes, name);
  return {
    who: 'system:node:worker-4',
    asks: 'the same request as before',
    outcome: condition?.type === 'Approved' ? 'approve' : 'pending',
    why: condition?.message ?? 'it is still pending',
    asExpected: condition?.type === 'Approved',
  };
}

function rowOf(
  demo: DemoRequest,
  kubernetes: InMemoryKubernetes,
  log: ReadonlyMap<string, LoggedDecision>,
): OutcomeRow {
  const condition = conditionOf(kubernetes, demo.name);
  const logged = log.get(demo.name);
  const outcome =
    condition === undefined
      ? logged === undefined
        ? 'untouched'
        : 'pending'
      : condition.type === 'Approved'
        ? 'approve'
        : 'deny';
  return {
    who: demo.changes.username ?? `system:node:${demo.node}`,
    asks: demo.asks,
    outcome,
    why:
      condition?.message ??
      (logged === undefined
        ? 'Ichor never touches another signer'
        : `${logged.reasons.join()}: ${logged.detail}`),
    asExpected:
      outcome === demo.expected.kind &&
      sameSet(logged?.reasons ?? [], demo.expected.reasons) &&
      (condition === undefined || condition.reason === demo.expected.reasons[0]),
  };
}

interface CsrCondition {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

function conditionOf(kubernetes: InMemoryKubernetes, name: string): CsrCondition | undefined {
  const status = kubernetes.request(name)['status'] as
    | { readonly conditions?: readonly CsrCondition[] }
    | undefined;
  return status?.conditions?.[0];
}

function certifiedMachines(kubernetes: InMemoryKubernetes): number {
  const status = kubernetes.cluster(demoClusterName)['status'] as
    | { readonly machines?: { readonly certified?: number } }
    | undefined;
  return status?.machines?.certified ?? 0;
}

function summary(kubernetes: InMemoryKubernetes): string {
  const status = kubernetes.cluster(demoClusterName)['status'] as {
    readonly conditions?: readonly (CsrCondition & { readonly status: string })[];
  };
  const condition = status.conditions?.find(({ type }) => type === 'KubeletServingCertificates');
  const events = kubernetes.events();
  return [
    '',
    `${certifiedMachines(kubernetes)} of ${demoMachines.length} machines are certified; worker-3, which asked for nothing honest, is not.`,
    `KubeletServingCertificates is ${condition?.status}, ${condition?.reason}: ${condition?.message}`,
    `${events.length} Events were written, for example on ${events[0]?.machine}: ${events[0]?.reason}.`,
    '',
  ].join('\n');
}

function noteDecision(line: string, log: Map<string, LoggedDecision>): void {
  const entry = JSON.parse(line) as {
    message: string;
    request?: string;
  } & LoggedDecision;
  if (
    entry.message === 'request decided' &&
    entry.request !== undefined &&
    !log.has(entry.request)
  ) {
    log.set(entry.request, entry);
  }
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}

async function until(holds: () => boolean): Promise<boolean> {
  const end = Date.now() + patienceMs;
  while (!holds()) {
    if (Date.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return true;
}
