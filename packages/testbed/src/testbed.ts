import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterRoleBinding, createBootstrapToken } from './bootstrap-token.ts';
import type { CertificateAuthority, KeyPairPem } from './certificate-authority.ts';
import { createControlPlaneFiles, kubeletClientUser } from './control-plane-files.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { buildPart } from './go-build.ts';
import type { PartName } from './go-parts.ts';
import { createInCluster, type InCluster } from './in-cluster.ts';
import { type Apiserver, type ApiserverOptions, startApiserver } from './kube-apiserver.ts';
import { type ControllerManager, startControllerManager } from './kube-controller-manager.ts';
import { createObject, type NewRequest, requestObject, requestsPath } from './kube-objects.ts';
import {
  type KubeRequest,
  type KubeRequester,
  type KubeResponse,
  kubeRequester,
  type Requester,
} from './kube-request.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
import { type CommandResult, runCommand } from './kubectl.ts';
import { type Kubelet, type KubeletOptions, startKubelet } from './kubelet.ts';
import { addAddresses, enterNetwork } from './network-namespace.ts';
import { startTalosNodes, type TalosNodeSpec, type TalosNodes } from './talos-nodes.ts';

/** What may be chosen about a testbed. */
export type TestbedOptions = {
  /** Addresses given to the loopback device at start; more can follow. */
  readonly addresses?: readonly string[];
  /** The first API server; by default it listens on 127.0.0.1 and does not verify kubelets. */
  readonly apiserver?: ApiserverOptions;
  /** Longest lifetime of signed certificates as a Go duration such as `4m` (backdated five minutes); default a year. */
  readonly signingDuration?: string;
  /** Talos nodes to start beside the control plane; their addresses are added to the loopback device. */
  readonly talosNodes?: readonly TalosNodeSpec[];
  /** Lines about parts that have to be built first; default: silent. */
  readonly report?: (line: string) => void;
};

/** A user as the API server will see it; strings are encoded as UTF-8, bytes are taken as they are. */
export type TestbedUser = {
  readonly user: string | Uint8Array;
  readonly groups?: readonly (string | Uint8Array)[];
};

/** Real etcd, kube-apiserver and kube-controller-manager, and what is needed to use them. */
export type Testbed = {
  /** Directory of everything that this testbed writes; removed by {@link Testbed.close}. */
  readonly directory: string;
  /** Directory with one log file per part. */
  readonly logs: string;
  /** Signs clients, API servers and kubelets. */
  readonly ca: CertificateAuthority;
  /** File with the CA's certificate. */
  readonly caFile: string;
  readonly etcd: Etcd;
  readonly apiserver: Apiserver;
  readonly controllerManager: ControllerManager;
  /** The Talos nodes; reading this throws where `talosNodes` was not given. */
  readonly talos: TalosNodes;
  /** Kubeconfig of a member of `system:masters`. */
  readonly adminKubeconfig: string;
  /** Requests as that member, to the first API server. */
  readonly admin: KubeRequester;

  /**
   * A client certificate for any user name and groups, byte for byte. The API server adds
   * `system:authenticated`; a user name may not be empty. About a millisecond.
   */
  clientCertificate(user: TestbedUser): KeyPairPem;
  /** A kubeconfig with such a certificate; returns its path. */
  kubeconfigFor(user: TestbedUser, server?: string): Promise<string>;
  /** Requests of somebody else; connections are closed with the testbed or by `close()`. */
  requester(who: Requester, server?: string): KubeRequester;
  /** One request of somebody else over a connection of its own. */
  requestAs(who: Requester, path: string, request?: KubeRequest): Promise<KubeResponse>;
  /** Creates a certificate signing request as somebody; the answer is whatever the API server says. */
  createCsr(who: Requester, request: NewRequest): Promise<KubeResponse>;
  /** The path at which certificate signing requests, or one of them, are read. */
  csrPath(name?: string): string;

  /** Runs the real kubectl, as administrator where no other kubeconfig is given. */
  kubectl(
    args: readonly string[],
    options?: { readonly stdin?: string; readonly kubeconfig?: string },
  ): Promise<CommandResult>;
  /** `kubectl apply -f -`; throws with kubectl's words when that fails. */
  apply(manifest: string | object): Promise<void>;

  /** Mints a token (TokenRequest) for a service account that exists. */
  serviceAccountToken(account: {
    readonly namespace: string;
    readonly name: string;
    readonly expirationSeconds?: number;
  }): Promise<string>;
  /** Lays down what a pod of a service account finds, with a fresh token. */
  inCluster(account: { readonly namespace: string; readonly name: string }): Promise<InCluster>;

  /** See {@link createBootstrapToken}. */
  createBootstrapToken(): Promise<string>;
  /** Starts a real kubelet with a container runtime of its own. */
  startKubelet(options: KubeletOptions): Promise<Kubelet>;
  /** Starts one more API server on the same etcd; ready when this resolves. */
  startApiserver(options: ApiserverOptions): Promise<Apiserver>;
  /** Gives the loopback device more addresses. */
  addAddresses(addresses: readonly string[]): Promise<void>;
  /** A directory of its own for a test's files, under {@link Testbed.directory}. */
  scratch(name: string): Promise<string>;
  /** Registers something to be closed before the control plane is, last first. */
  onClose(close: () => Promise<void>): void;
  /** Stops everything that was started, each by its pid, and removes the directory. */
  close(): Promise<void>;
};

/**
 * Starts a control plane of real parts, ready when this resolves (some seconds; minutes when parts must be
 * built first). Several may run in one namespace: all ports are free ones, only kubelets claim a fixed port,
 * each on its own address.
 *
 * With `ICHOR_TESTBED_KEEP` set, the directory with its logs is kept on close.
 *
 * @example
 * ```ts
 * const testbed = await startTestbed({ talosNodes: [controlPlane, worker] });
 * const kubelet = testbed.clientCertificate({
 *   user: 'system:node:worker-1',
 *   groups: ['system:nodes'],
 * });
 * const { request } = createServingRequest(
 *   { commonName: 'system:node:worker-1', organizations: ['system:nodes'] },
 *   { dnsNames: ['worker-1'], ipAddresses: ['10.5.0.21'] },
 * );
 * const { body } = await testbed.createCsr(kubelet, { request });
 * await testbed.kubectl(['certificate', 'approve', body.metadata.name]);
 * await testbed.close();
 * ```
 *
 * @throws Error with one sentence where the process is not in a network namespace of its own, a part cannot be
 *   built, or a part does not start (with the last lines of its log).
 */
export async function startTestbed(options: TestbedOptions = {}): Promise<Testbed> {
  await enterNetwork();
  await addAddresses(options.addresses ?? []);
  const part = (name: PartName): Promise<string> =>
    buildPart(name, options.report === undefined ? {} : { report: options.report });
  const binary = {
    etcd: await part('etcd'),
    apiserver: await part('kube-apiserver'),
    controllerManager: await part('kube-controller-manager'),
    kubectl: await part('kubectl'),
  };
  const talosBinary = options.talosNodes === undefined ? undefined : await part('talos-nodes');

  const directory = await mkdtemp(join(tmpdir(), 'ichor-testbed-'));
  const logs = await subdirectory(directory, 'logs');
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    const faults: unknown[] = [];
    for (const closer of closers.splice(0).reverse()) {
      await closer().catch((fault: unknown) => faults.push(fault));
    }
    if (!process.env['ICHOR_TESTBED_KEEP']) {
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    }
    // One part that cannot be stopped must not keep the others running.
    if (faults.length > 0) throw new AggregateError(faults, 'The testbed could not be closed.');
  };
  try {
    return await startInside();
  } catch (error) {
    await close();
    throw error;
  }

  async function startInside(): Promise<Testbed> {
    const controlPlane = await subdirectory(directory, 'control-plane');
    const files = await createControlPlaneFiles(controlPlane);
    const talos =
      talosBinary === undefined
        ? undefined
        : await launchTalos(talosBinary, join(directory, 'talos'), options.talosNodes ?? []);
    if (talos !== undefined) closers.push(() => talos.close());
    const etcd = await startEtcd(binary.etcd, directory, join(logs, 'etcd.log'));
    closers.push(() => etcd.process.stop({ graceMs: 2_000 }));

    const setting = {
      binary: binary.apiserver,
      directory: controlPlane,
      logs,
      etcdUrl: etcd.url,
      files,
    };
    let apiservers = 0;
    const launchApiserver = async (which: ApiserverOptions): Promise<Apiserver> => {
      apiservers += 1;
      const name = apiservers === 1 ? 'kube-apiserver' : `kube-apiserver-${apiservers}`;
      const started = await startApiserver(setting, name, which);
      // An API server waits a minute for its watches to end; nothing here needs that.
      closers.push(() => started.process.stop({ graceMs: 1_000 }));
      await started.ready();
      return started;
    };
    await etcd.ready();
    const apiserver = await launchApiserver(options.apiserver ?? {});

    const caPem = files.ca.certificate;
    const adminPair = files.ca.client({
      commonName: 'testbed-admin',
      organizations: ['system:masters'],
    });
    const admin = kubeRequester(apiserver.url, caPem, adminPair);
    closers.push(async () => admin.close());
    const adminKubeconfig = await writeKubeconfig(
      join(directory, 'admin.kubeconfig'),
      apiserver.url,
      caPem,
      adminPair,
    );

    const controllerManager = await startControllerManager({
      binary: binary.controllerManager,
      directory: controlPlane,
      logs,
      server: apiserver.url,
      files,
      signingDuration: options.signingDuration,
    });
    closers.push(() => controllerManager.process.stop({ graceMs: 2_000 }));
    await createObject(
      admin,
      '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
      clusterRoleBinding('testbed:kubelet-api-admin', 'system:kubelet-api-admin', {
        kind: 'User',
        name: kubeletClientUser,
      }),
    );
    await controllerManager.ready();

    let written = 0;
    let kubelets = 0;
    const requester = (who: Requester, server = apiserver.url): KubeRequester =>
      kubeRequester(server, caPem, who);
    const clientCertificate = ({ user, groups }: TestbedUser): KeyPairPem =>
      files.ca.client({ commonName: user, organizations: groups ?? [] });
    const requestAs: Testbed['requestAs'] = async (who, path, request) => {
      const once = requester(who);
      try {
        return await once.send(path, request);
      } finally {
        once.close();
      }
    };
    const csrPath = (name?: string): string =>
      name === undefined ? requestsPath : `${requestsPath}/${encodeURIComponent(name)}`;
    const kubectl: Testbed['kubectl'] = (args, { stdin, kubeconfig } = {}) =>
      runCommand(binary.kubectl, args, {
        stdin,
        env: {
          PATH: process.env['PATH'],
          // kubectl caches what it discovers under the home directory.
          HOME: directory,
          KUBECONFIG: kubeconfig ?? adminKubeconfig,
        },
      });
    const serviceAccountToken: Testbed['serviceAccountToken'] = async (account) => {
      const path = `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`;
      const { body } = await createObject(admin, path, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: account.expirationSeconds ?? 3_600 },
      });
      return String(body.status.token);
    };

    return {
      directory,
      logs,
      ca: files.ca,
      caFile: files.file.caCertificate,
      etcd,
      apiserver,
      controllerManager,
      get talos() {
        if (talos === undefined) {
          throw new Error(
            'This testbed has no Talos nodes: give startTestbed the option talosNodes.',
          );
        }
        return talos;
      },
      adminKubeconfig,
      admin,
      clientCertificate,
      kubeconfigFor(user, server = apiserver.url) {
        written += 1;
        const path = join(directory, `user-${written}.kubeconfig`);
        return writeKubeconfig(path, server, caPem, clientCertificate(user));
      },
      requester(who, server) {
        const made = requester(who, server);
        closers.push(async () => made.close());
        return made;
      },
      requestAs,
      createCsr: (who, request) =>
        requestAs(who, requestsPath, { method: 'POST', body: requestObject(request) }),
      csrPath,
      kubectl,
      async apply(manifest) {
        const stdin = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
        const { code, stderr } = await kubectl(['apply', '-f', '-'], { stdin });
        if (code !== 0) throw new Error(`kubectl apply ended with ${code}: ${stderr.trim()}`);
      },
      serviceAccountToken,
      async inCluster(account) {
        written += 1;
        return createInCluster(join(directory, `service-account-${written}`), {
          token: await serviceAccountToken(account),
          caPem,
          namespace: account.namespace,
          host: apiserver.address,
          port: apiserver.port,
        });
      },
      createBootstrapToken: () => createBootstrapToken(admin),
      async startKubelet(which) {
        kubelets += 1;
        const own = await subdirectory(directory, `kubelet-${kubelets}`);
        const started = await startKubelet(
          {
            binary: await part('kubelet'),
            runtimeBinary: await part('fakecri'),
            directory: own,
            logs,
            server: apiserver.url,
            caPem,
            caFile: files.file.caCertificate,
            admin,
          },
          which,
        );
        closers.push(() => started.close());
        return started;
      },
      startApiserver: launchApiserver,
      addAddresses,
      scratch: (name) => subdirectory(directory, name),
      onClose: (closer) => {
        closers.push(closer);
      },
      close,
    };
  }
}

/** Starts Talos nodes on addresses that are there, those of nodes that are added later included. */
async function launchTalos(
  binary: string,
  dir: string,
  nodes: readonly TalosNodeSpec[],
): Promise<TalosNodes> {
  await addAddresses(nodes.map(({ address }) => address));
  const talos = await startTalosNodes({ binary, dir, nodes });
  return {
    ...talos,
    async addNode(node) {
      await addAddresses([node.address]);
      await talos.addNode(node);
    },
  };
}

async function subdirectory(parent: string, name: string): Promise<string> {
  const path = join(parent, name);
  await mkdir(path, { recursive: true, mode: 0o700 });
  return path;
}
