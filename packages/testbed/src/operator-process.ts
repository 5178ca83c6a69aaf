import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installManifest } from '@ichor/render';
import { eventually, notYet } from './eventually.ts';
import { type PartProcess, startPart } from './part-process.ts';
import type { Testbed } from './testbed.ts';

/** Namespace that the tests install the operator in. */
export const operatorNamespace = 'ichor-system';
const serviceAccount = 'ichor';
const program = fileURLToPath(new URL('../../operator/bin/ichor.mjs', import.meta.url));

/** One line of the operator's log. */
export type OperatorLogLine = {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  /** Of a decision: name and uid of the request, its user, kind and reasons. */
  readonly request?: string;
  readonly uid?: string;
  readonly user?: string;
  readonly kind?: 'approve' | 'deny' | 'pending';
  readonly reasons?: readonly string[];
  readonly [field: string]: unknown;
};

/** A TalosMachine to create. */
export type MachineSpec = {
  readonly name: string;
  readonly address: string;
  readonly machineType?: 'controlplane' | 'worker';
  /** Default: the name. Null: none. */
  readonly hostname?: string | null;
};

/** The operator as a pod would run: its own ServiceAccount token and two variables, nothing else. */
export type OperatorProcess = {
  readonly process: PartProcess;
  /** Every line it has logged, restarts included. */
  log(): readonly OperatorLogLine[];
  /** Waits for the log line of a decision about a request, of a kind where one is given. */
  decisionOn(uid: string, timeoutMs?: number): Promise<OperatorLogLine>;
  /** Ends it and starts it again: all that it knew is gone. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Applies what `ichor manifests --only crds,rbac` prints, ready to be used when this resolves. */
export async function installOperator(testbed: Testbed): Promise<void> {
  const items = installManifest({ namespace: operatorNamespace, only: ['crds', 'rbac'] });
  await testbed.apply({ apiVersion: 'v1', kind: 'List', items });
  await customResourcesServed(testbed);
}

/** Waits until the API server answers for both kinds, which it does some time after it has taken their definitions. */
export async function customResourcesServed(testbed: Testbed): Promise<void> {
  for (const plural of ['talosclusters', 'talosmachines']) {
    const path = `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}/${plural}`;
    await eventually(`${plural} are served`, async () => {
      const { status } = await testbed.admin.send(path);
      return status === 200 || notYet(status);
    });
  }
}

/**
 * Creates the TalosCluster `lab` and its machines, with Talos credentials in a Secret.
 *
 * @param spec parts of the TalosCluster's spec; `options` are its kubeletServingCertificates
 */
export async function createCluster(
  testbed: Testbed,
  machines: readonly MachineSpec[],
  options: Readonly<Record<string, unknown>> = { enabled: true },
  spec: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const talosconfig = await readFile(testbed.talos.talosconfig('reader'), 'utf8');
  const namespace = operatorNamespace;
  await testbed.apply({
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'lab-talos', namespace },
        stringData: { config: talosconfig },
      },
      {
        apiVersion: 'ichor.dev/v1alpha1',
        kind: 'TalosCluster',
        metadata: { name: 'lab', namespace },
        spec: {
          talos: { talosconfigSecretRef: { name: 'lab-talos' } },
          kubernetes: { endpoint: 'https://api.lab.example:6443' },
          ...spec,
          security: { kubeletServingCertificates: options },
        },
      },
      ...machines.map((machine) => machineObject(machine)),
    ],
  });
}

/** A TalosMachine of cluster `lab` as an object. */
export function machineObject({
  name,
  address,
  machineType = 'worker',
  hostname = name,
}: MachineSpec): object {
  return {
    apiVersion: 'ichor.dev/v1alpha1',
    kind: 'TalosMachine',
    metadata: { name, namespace: operatorNamespace },
    spec: {
      clusterRef: { name: 'lab' },
      machineType,
      address,
      ...(hostname === null ? {} : { hostname }),
    },
  };
}

/**
 * Replaces the options of TalosCluster `lab` and waits until the operator works by them.
 *
 * @param options the whole of kubeletServingCertificates
 */
export async function setOptions(
  testbed: Testbed,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const path = `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}/talosclusters/lab`;
  const { body, status } = await testbed.admin.send(path, {
    method: 'PATCH',
    contentType: 'application/json-patch+json',
    body: [{ op: 'add', path: '/spec/security', value: { kubeletServingCertificates: options } }],
  });
  if (status !== 200) throw new Error(`The options were refused: ${JSON.stringify(body)}`);
  const { generation } = body.metadata;
  await eventually('the operator has taken over the options', async () => {
    const { body: now } = await testbed.admin.send(path);
    const observed: unknown = now.status?.observedGeneration;
    return observed === generation || notYet(observed);
  });
}

/** Starts the operator in the cluster of the testbed. It is stopped with the testbed. */
export async function startOperator(testbed: Testbed): Promise<OperatorProcess> {
  const inCluster = await testbed.inCluster({
    namespace: operatorNamespace,
    name: serviceAccount,
  });
  const { command, args } = inCluster.wrap(process.execPath, [program, 'run']);
  const file = join(testbed.logs, 'ichor.log');
  const part = startPart({
    name: 'ichor',
    command,
    args,
    log: file,
    env: { PATH: process.env['PATH'], ...inCluster.env },
  });
  testbed.onClose(() => part.stop());
  const log = () => linesOf(file);
  await part.ready(async () => log().some(({ message }) => message === 'starting'));
  return {
    process: part,
    log,
    decisionOn: (uid, timeoutMs = 30_000) =>
      eventually(
        `the operator says what it decided about the request ${uid}`,
        () => log().findLast((line) => line.message === 'request decided' && line.uid === uid),
        { timeoutMs, everyMs: 25 },
      ),
    restart: async () => {
      await part.stop();
      const before = log().length;
      part.start();
      await part.ready(async () =>
        log()
          .slice(before)
          .some(({ message }) => message === 'starting'),
      );
    },
    stop: () => part.stop(),
  };
}

function linesOf(file: string): readonly OperatorLogLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      // What is no JSON is a stack trace, or a line that is still being written.
      try {
        return [JSON.parse(line) as OperatorLogLine];
      } catch {
        return [];
      }
    });
}
