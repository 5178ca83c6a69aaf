import {
  createCluster,
  eventually,
  installOperator,
  type Kubelet,
  notYet,
  operatorNamespace,
  startTestbed,
  type TalosNodeSpec,
  type Testbed,
} from '../src/index.ts';
import type { Narrator } from './narrator.ts';

/** The workers of the demonstration, which have real kubelets. */
export const workers = [
  { name: 'worker-1', address: '10.5.0.21' },
  { name: 'worker-2', address: '10.5.0.22' },
  { name: 'worker-3', address: '10.5.0.23' },
] as const;
const controlPlane = { name: 'cp-1', address: '10.5.0.2' };

/** A certificate signing request as the demonstration looks at it. */
export type SigningRequest = {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly username: string };
  readonly status: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly reason: string;
      readonly message: string;
    }[];
    readonly certificate?: string;
  };
};

/** A control plane that verifies kubelets, and the operating systems of four machines. */
export function startLab(): Promise<Testbed> {
  return startTestbed({
    apiserver: { verifyKubelets: true },
    talosNodes: [
      {
        ...talosNode(controlPlane),
        machineType: 'controlplane',
        excludeSubnets: ['10.244.0.0/16', '10.96.0.0/12', '10.5.0.100'],
      },
      ...workers.map(talosNode),
    ],
  });
}

function talosNode({ name, address }: { name: string; address: string }): TalosNodeSpec {
  const names = { nodename: name, hostname: name };
  return { name, address, machineType: 'worker', nodeIPs: [address], ...names };
}

/** Installs what the operator needs and describes the cluster to it; the option is on. */
export async function describeLab(testbed: Testbed): Promise<void> {
  await installOperator(testbed);
  await createCluster(testbed, [{ ...controlPlane, machineType: 'controlplane' }, ...workers]);
}

/** Starts the kubelets, each with nothing but a bootstrap token, and waits until their nodes are Ready. */
export async function startKubelets(testbed: Testbed): Promise<readonly Kubelet[]> {
  const bootstrapToken = await testbed.createBootstrapToken();
  const kubelets = await Promise.all(
    workers.map(({ name, address }) =>
      testbed.startKubelet({ nodeName: name, address, bootstrapToken }),
    ),
  );
  await Promise.all(kubelets.map((kubelet) => kubelet.nodeReady()));
  return kubelets;
}

/** All kubelet serving requests, by user name. */
export async function servingRequests(testbed: Testbed): Promise<readonly SigningRequest[]> {
  const selector = 'fieldSelector=spec.signerName%3Dkubernetes.io/kubelet-serving';
  const { body } = await testbed.admin.send(`${testbed.csrPath()}?${selector}`);
  const requests: readonly SigningRequest[] = body.items;
  return requests.toSorted((a, b) => (a.spec.username < b.spec.username ? -1 : 1));
}

/** Asks until each worker has a serving request; a kubelet makes one once its node has an address. */
export function everyWorkerAsks(testbed: Testbed): Promise<readonly SigningRequest[]> {
  return eventually('every kubelet asks for a serving certificate', async () => {
    const requests = await servingRequests(testbed);
    const users = new Set(requests.map(({ spec }) => spec.username));
    return users.size >= workers.length ? requests : notYet([...users]);
  });
}

/** The status of the TalosCluster. */
export async function clusterStatus(testbed: Testbed) {
  const path = `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}/talosclusters/lab`;
  return (await testbed.admin.send(path)).body.status;
}

/** The status of a TalosMachine; undefined where it has none. */
export async function machineStatus(testbed: Testbed, name: string) {
  const path = `/apis/ichor.dev/v1alpha1/namespaces/${operatorNamespace}/talosmachines/${name}`;
  return (await testbed.admin.send(path)).body.status;
}

/** Arguments of kubectl that list the kubelet serving requests. */
export const csrTable: readonly string[] = [
  ...['get', 'csr', '--sort-by', '.spec.username'],
  ...['--field-selector', 'spec.signerName=kubernetes.io/kubelet-serving'],
];

/** Arguments of kubectl that let the API server call a node's kubelet. */
export function configz(node: string): readonly string[] {
  return ['get', '--raw', `/api/v1/nodes/${node}/proxy/configz`];
}

/** The condition that decided a request, or what kubectl calls one that nobody has decided. */
export function conditionOf({ status }: SigningRequest) {
  return status.conditions?.[0] ?? { type: 'Pending', reason: '', message: '' };
}

/** True while nobody has decided the request. */
export function isPending(request: SigningRequest): boolean {
  return conditionOf(request).type === 'Pending';
}

/** Address of a worker by its name. */
export function addressOf(node: string): string {
  return workers.find(({ name }) => name === node)?.address ?? 'no such worker';
}

/** Runs kubectl and shows it as somebody at a terminal would see it. */
export async function showKubectl(
  { ran }: Narrator,
  testbed: Testbed,
  args: readonly string[],
  shape: (output: string) => string = (output) => output,
) {
  const result = await testbed.kubectl(args);
  ran(`kubectl ${args.join(' ')}`, shape(result.stdout + result.stderr));
  return result;
}
