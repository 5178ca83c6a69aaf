import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, notYet } from './eventually.ts';
import type { KubeRequester } from './kube-request.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
import { hasCgroupV1, kubeletConfiguration, kubeletPort } from './kubelet-config.ts';
import { addAddresses } from './network-namespace.ts';
import { type PartProcess, startPart } from './part-process.ts';
import { type Handshake, tlsHandshake } from './tls-handshake.ts';

/** How a kubelet gets its first credential, and what it is. */
export type KubeletOptions = {
  /** Name of its Node, at most 63 lower-case letters, digits and hyphens, or a DNS subdomain. */
  readonly nodeName: string;
  /** Its own IPv4 or IPv6 address; added to the loopback device. */
  readonly address: string;
  /** Further node addresses, for a second address family. */
  readonly moreAddresses?: readonly string[];
  /** Bootstrap token (`id.secret`), with which it asks for its client certificate. */
  readonly bootstrapToken?: string;
  /** Path of a kubeconfig used as it is, instead of bootstrapping. */
  readonly kubeconfig?: string;
  /** Ask the cluster for a serving certificate; default true. */
  readonly serverTLSBootstrap?: boolean;
  /** URL of the API server; default the first one of the testbed. */
  readonly server?: string;
};

/** A real kubelet with a container runtime that runs nothing. */
export type Kubelet = {
  readonly nodeName: string;
  readonly address: string;
  /** Directory with its certificates (`--cert-dir`). */
  readonly certificates: string;
  readonly process: PartProcess;
  /**
   * Resolves when its Node has the condition Ready=True. After a stop the condition stays what it was for some
   * 40 seconds, so right after a restart this says nothing.
   */
  nodeReady(timeoutMs?: number): Promise<void>;
  /** Tries a TLS handshake with its port 10250, without verifying what it shows. */
  handshake(): Promise<Handshake>;
  /** Stops the kubelet, not its container runtime. */
  stop(): Promise<void>;
  /**
   * Stops it and starts it again.
   *
   * @param changes new settings; `dropServingCertificate` removes what it served before, a pair that it signed
   *   itself or one that was issued, as a node does whose configuration changes from the one to the other.
   */
  restart(changes?: {
    readonly serverTLSBootstrap?: boolean;
    readonly dropServingCertificate?: boolean;
  }): Promise<void>;
  /** Stops the kubelet and its container runtime for good. */
  close(): Promise<void>;
};

/** What the kubelets of one testbed share. */
export type KubeletSetting = {
  readonly binary: string;
  readonly runtimeBinary: string;
  /** Directory for this kubelet; short, because it holds a unix socket. */
  readonly directory: string;
  readonly logs: string;
  readonly server: string;
  readonly caPem: string;
  readonly caFile: string;
  readonly admin: KubeRequester;
};

// The kubelet has a few fixed paths: its device plugin socket and a directory of log links. In a mount
// namespace of its own these are empty file systems, so that kubelets do not meet and the host stays clean.
const hideFixedPaths = `
set -e
mount -t tmpfs tmpfs /var/log
if [ -d /var/lib/kubelet ]; then
  mount -t tmpfs tmpfs /var/lib/kubelet
else
  mount -t tmpfs tmpfs /var/lib
  mkdir /var/lib/kubelet
fi
exec "$@"
`;

/**
 * Starts a kubelet and its container runtime. It resolves when the runtime serves, before the node is ready.
 *
 * @throws Error when neither a token nor a kubeconfig is given.
 */
export async function startKubelet(
  setting: KubeletSetting,
  options: KubeletOptions,
): Promise<Kubelet> {
  const { nodeName, address } = options;
  if (options.bootstrapToken === undefined && options.kubeconfig === undefined) {
    throw new Error(`The kubelet of ${nodeName} needs a bootstrapToken or a kubeconfig.`);
  }
  const inside = (name: string): string => join(setting.directory, name);
  const certificates = inside('pki');
  await mkdir(certificates, { recursive: true, mode: 0o700 });
  await addAddresses([address, ...(options.moreAddresses ?? [])]);

  const runtimeSocket = inside('cri.sock');
  const runtime = startPart({
    name: `fakecri of ${nodeName}`,
    command: setting.runtimeBinary,
    args: ['--socket', runtimeSocket],
    log: join(setting.logs, `fakecri-${nodeName}.log`),
  });
  await runtime.ready(async () => existsSync(runtimeSocket));

  const writeConfiguration = (serverTLSBootstrap: boolean): Promise<void> =>
    writeFile(
      inside('kubelet.json'),
      JSON.stringify(
        kubeletConfiguration({
          address,
          runtimeSocket,
          podLogs: inside('pods-log'),
          volumePlugins: inside('volume-plugins'),
          clientCa: setting.caFile,
          serverTLSBootstrap,
          cgroupV1: hasCgroupV1(),
        }),
        undefined,
        2,
      ),
    );
  let serverTLSBootstrap = options.serverTLSBootstrap ?? true;
  await writeConfiguration(serverTLSBootstrap);

  const server = options.server ?? setting.server;
  const bootstrapArgs =
    options.bootstrapToken === undefined
      ? []
      : [
          `--bootstrap-kubeconfig=${await writeKubeconfig(
            inside('bootstrap.kubeconfig'),
            server,
            setting.caPem,
            { token: options.bootstrapToken },
          )}`,
        ];
  const process = startPart({
    name: `kubelet of ${nodeName}`,
    command: 'unshare',
    log: join(setting.logs, `kubelet-${nodeName}.log`),
    args: [
      '--mount',
      'sh',
      '-c',
      hideFixedPaths,
      'sh',
      setting.binary,
      `--config=${inside('kubelet.json')}`,
      ...bootstrapArgs,
      `--kubeconfig=${options.kubeconfig ?? inside('kubelet.kubeconfig')}`,
      `--cert-dir=${certificates}`,
      `--root-dir=${inside('root')}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${[address, ...(options.moreAddresses ?? [])].join(',')}`,
    ],
  });

  return {
    nodeName,
    address,
    certificates,
    process,
    nodeReady: (timeoutMs = 60_000) =>
      eventually(
        `node ${nodeName} is Ready`,
        async () => {
          const { body } = await setting.admin.send(
            `/api/v1/nodes/${encodeURIComponent(nodeName)}`,
          );
          const conditions: readonly { type: string; status: string; message: string }[] =
            body?.status?.conditions ?? [];
          const ready = conditions.find(({ type }) => type === 'Ready');
          return ready?.status === 'True' ? true : notYet(ready?.message ?? body?.message);
        },
        { timeoutMs },
      ).then(() => undefined),
    handshake: () => tlsHandshake(address, kubeletPort),
    stop: () => process.stop(),
    async restart(changes = {}) {
      await process.stop();
      if (changes.dropServingCertificate === true) {
        for (const name of ['kubelet.crt', 'kubelet.key', 'kubelet-server-current.pem']) {
          await rm(join(certificates, name), { force: true });
        }
      }
      serverTLSBootstrap = changes.serverTLSBootstrap ?? serverTLSBootstrap;
      await writeConfiguration(serverTLSBootstrap);
      process.start();
    },
    async close() {
      await process.stop();
      await runtime.stop();
    },
  };
}
