import {
  eventually,
  type Kubelet,
  notYet,
  operatorNamespace,
  startOperator,
  type Testbed,
} from '../src/index.ts';
import { showForgery } from './forged-request.ts';
import {
  addressOf,
  clusterStatus,
  conditionOf,
  configz,
  csrTable,
  describeLab,
  everyWorkerAsks,
  isPending,
  machineStatus,
  servingRequests,
  showKubectl,
  startKubelets,
  startLab,
  workers,
} from './lab.ts';
import { createNarrator } from './narrator.ts';

// Command: shows on real parts what the operator is for, "npm run demo:real". The exit code is 0 only where
// everything came out as expected.

const narrator = createNarrator({
  write: (text) => void process.stdout.write(text),
  columns: process.stdout.columns ?? 100,
  colour: process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined,
});
const { step, say, ran, table, expect } = narrator;
const kubectl = (testbed: Testbed, args: readonly string[], shape?: (output: string) => string) =>
  showKubectl(narrator, testbed, args, shape);

let lab: Promise<Testbed> | undefined;
let interrupted = false;
process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);

try {
  await demonstrate();
} catch (error) {
  // What breaks because everything is being stopped is no result.
  if (!interrupted) expect('every step could be taken', false, textOf(error));
}
if (!interrupted) {
  await stopEverything();
  const { met, missed } = narrator.count();
  const verdict = missed === 0 ? 'Everything' : `${missed} of ${met + missed} results`;
  say(`${verdict} ${missed === 0 ? '' : 'not '}as expected, in ${narrator.elapsed()}.`);
  process.exitCode = missed === 0 ? 0 : 1;
}

async function demonstrate(): Promise<void> {
  step('A control plane of real parts');
  say(
    'etcd, kube-apiserver and kube-controller-manager start, and the Talos API of four machines. ' +
      'The API server has --kubelet-certificate-authority: it talks only to kubelets that it can verify.',
  );
  lab = startLab();
  const testbed = await lab;
  await kubectl(testbed, ['version']);

  step('Three kubelets join with a bootstrap token');
  const kubelets = await startKubelets(testbed);
  await kubectl(testbed, ['get', 'nodes', '-o', 'wide'], shortColumns);
  expect('all three nodes are Ready', kubelets.length === workers.length);

  await nobodyIsReached(testbed);
  await ichorDecides(testbed);
  await everybodyIsReached(testbed, kubelets);
  await showForgery(narrator, testbed, kubelets);

  step('What is on record');
  await eventually('the status of the cluster counts them', async () => {
    const { machines } = await clusterStatus(testbed);
    return machines.certified === workers.length || notYet(machines);
  });
  const shown = await kubectl(testbed, [
    ...['get', 'taloscluster,talosmachine', '--namespace', operatorNamespace],
  ]);
  expect('kubectl shows the cluster and its machines', shown.code === 0, shown.stderr);
  const { machines } = await clusterStatus(testbed);
  expect(
    'three of the four machines are certified (cp-1 runs no kubelet here)',
    machines.total === 4 && machines.certified === 3,
    machines,
  );
}

async function nobodyIsReached(testbed: Testbed): Promise<void> {
  step('Without Ichor: the nodes are Ready, and nobody can reach their kubelets');
  const requests = await everyWorkerAsks(testbed);
  say(
    'Each kubelet has asked for a serving certificate. Kubernetes would sign the requests, but it approves none: ' +
      'the names in them are the own word of the node.',
  );
  await kubectl(testbed, csrTable);
  for (const { name } of workers) {
    const called = await kubectl(testbed, configz(name));
    expect(
      `${name} cannot be called: tls: internal error`,
      called.code !== 0 && called.stderr.includes('remote error: tls: internal error'),
      called,
    );
  }
  expect('no request is decided', requests.every(isPending), requests.map(conditionOf));
}

async function ichorDecides(testbed: Testbed): Promise<void> {
  step('Ichor starts');
  say(
    'Its custom resources and rights are applied, the cluster and its machines described, and the program started ' +
      'with the token of its ServiceAccount. It asks the Talos API of each machine which names it has.',
  );
  await describeLab(testbed);
  const startedAt = performance.now();
  const operator = await startOperator(testbed);
  const decided = await everyWorkerAsks(testbed);
  await Promise.all(decided.map(({ metadata }) => operator.decisionOn(metadata.uid)));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const issued = await eventually('all certificates are issued', async () => {
    const requests = await servingRequests(testbed);
    return requests.every(({ status }) => status.certificate !== undefined)
      ? requests
      : notYet(requests.map(conditionOf));
  });
  await kubectl(testbed, csrTable);
  say(
    `Decided ${seconds} s after the start. Each approval says which evidence there is for each name:`,
  );
  table(
    ['request', 'condition', 'reason', 'message'],
    issued.map((request) => {
      const { type, reason, message } = conditionOf(request);
      return [request.metadata.name, type, reason, message];
    }),
  );
  for (const request of issued) {
    const { type, reason, message } = conditionOf(request);
    const node = request.spec.username.replace('system:node:', '');
    expect(
      `${node} is approved with its own names`,
      type === 'Approved' && reason === 'IchorKubeletServing' && message.includes(addressOf(node)),
      conditionOf(request),
    );
  }
}

async function everybodyIsReached(testbed: Testbed, kubelets: readonly Kubelet[]): Promise<void> {
  step('The same calls work, and the API server verifies whom it talks to');
  for (const { name } of workers) {
    const answer = await eventually(`the API server reaches ${name}`, async () => {
      const called = await testbed.kubectl(configz(name));
      return called.code === 0 ? called : notYet(called.stderr);
    });
    ran(`kubectl ${configz(name).join(' ')}`, `${answer.stdout.slice(0, 90)}…`);
    expect(`${name} answers`, JSON.parse(answer.stdout).kubeletconfig.serverTLSBootstrap === true);
  }
  say('What each kubelet shows in a TLS handshake is the certificate on record:');
  const rows = await Promise.all(
    kubelets.map(async (kubelet) => {
      const shaken = await kubelet.handshake();
      const shown =
        shaken.kind === 'served'
          ? shaken.certificate.fingerprint256.replaceAll(':', '').toLowerCase()
          : shaken.message;
      const recorded = await eventually(`${kubelet.nodeName} is on record`, async () => {
        const status = await machineStatus(testbed, kubelet.nodeName);
        return (status?.kubeletServingCertificate?.fingerprint as string) ?? notYet(status);
      });
      return { name: kubelet.nodeName, shown, recorded };
    }),
  );
  const short = (fingerprint: string): string => `${fingerprint.slice(0, 24)}…`;
  table(
    ['node', 'served (SHA-256)', 'TalosMachine status'],
    rows.map(({ name, shown, recorded }) => [name, short(shown), short(recorded)]),
  );
  expect(
    'all three are the same',
    rows.every(({ shown, recorded }) => shown === recorded),
    rows,
  );
}

/** Cuts the wide list of nodes after the addresses. */
function shortColumns(output: string): string {
  const [heading = ''] = output.split('\n');
  const end = heading.indexOf('EXTERNAL-IP');
  return end < 0 ? output : output.replace(/^.*$/gm, (line) => line.slice(0, end).trimEnd());
}

/** Ctrl-C: everything is stopped, and nothing that was seen counts. A second one does not wait. */
function interrupt(): void {
  if (interrupted) process.exit(130);
  interrupted = true;
  process.stdout.write('\nStopping everything.\n');
  void stopEverything().finally(() => process.exit(130));
}

async function stopEverything(): Promise<void> {
  const testbed = await lab?.catch(() => undefined);
  await testbed
    ?.close()
    .catch((error: unknown) => expect('everything is stopped', false, textOf(error)));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
