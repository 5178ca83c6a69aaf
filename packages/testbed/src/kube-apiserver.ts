import { writeFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { type ControlPlaneFiles, serviceRange, writeServingPair } from './control-plane-files.ts';
import { kubeRequester } from './kube-request.ts';
import { addAddresses, freePort } from './network-namespace.ts';
import { type PartProcess, startPart } from './part-process.ts';

/** What may be chosen about one API server. */
export type ApiserverOptions = {
  /** Address to listen on and to be known by; default 127.0.0.1. Others are added to the loopback device. */
  readonly address?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Start with `--kubelet-certificate-authority`, so that calls to a kubelet verify its certificate. */
  readonly verifyKubelets?: boolean;
  /** Write an audit log at level Metadata; see {@link Apiserver.auditLog}. */
  readonly audit?: boolean;
  /** Flags added at the end, such as `--token-auth-file=…`. */
  readonly extraArgs?: readonly string[];
};

/** A running kube-apiserver. */
export type Apiserver = {
  /** For example `https://127.0.0.1:40001`. */
  readonly url: string;
  readonly address: string;
  readonly port: number;
  readonly process: PartProcess;
  /** File with one audit event per line, where `audit` was asked for. */
  readonly auditLog: string | undefined;
  /** Resolves when `/readyz` answers 200. */
  ready(timeoutMs?: number): Promise<void>;
  /**
   * Stops it and starts it again, ready when this resolves.
   *
   * @param changes what is to be different from now on; the address and the port stay.
   */
  restart(changes?: Pick<ApiserverOptions, 'verifyKubelets' | 'extraArgs'>): Promise<void>;
};

/** What every API server of one testbed shares. */
export type ApiserverSetting = {
  readonly binary: string;
  readonly directory: string;
  readonly logs: string;
  readonly etcdUrl: string;
  readonly files: ControlPlaneFiles;
};

/** Starts an API server; it is not ready yet when this resolves. */
export async function startApiserver(
  setting: ApiserverSetting,
  name: string,
  options: ApiserverOptions = {},
): Promise<Apiserver> {
  const address = options.address ?? '127.0.0.1';
  const port = options.port ?? (await freePort());
  const url = `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
  await addAddresses([address]);
  const serving = await writeServingPair(setting.directory, setting.files.ca, name, [address]);
  const auditLog = options.audit === true ? join(setting.logs, `${name}-audit.log`) : undefined;
  const auditPolicy = join(setting.directory, `${name}-audit-policy.json`);
  if (auditLog !== undefined) await writeFile(auditPolicy, JSON.stringify(auditEverything));

  let chosen = options;
  const args = (): readonly string[] => [
    ...commonArgs(setting),
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${serving.certificate}`,
    `--tls-private-key-file=${serving.key}`,
    ...(chosen.verifyKubelets === true
      ? [`--kubelet-certificate-authority=${setting.files.file.caCertificate}`]
      : []),
    ...(auditLog === undefined
      ? []
      : [`--audit-log-path=${auditLog}`, `--audit-policy-file=${auditPolicy}`]),
    ...(chosen.extraArgs ?? []),
  ];
  const process = startPart({
    name,
    command: setting.binary,
    args: args(),
    log: join(setting.logs, `${name}.log`),
  });
  const ready = async (timeoutMs = 60_000): Promise<void> => {
    const probe = kubeRequester(url, setting.files.ca.certificate, 'anonymous');
    try {
      await process.ready(async () => (await probe.send('/readyz')).status === 200, timeoutMs);
    } finally {
      probe.close();
    }
  };
  return {
    url,
    address,
    port,
    process,
    auditLog,
    ready,
    async restart(changes) {
      chosen = { ...chosen, ...changes };
      // It waits for its watches to end, which those of the testbed never do by themselves.
      await process.stop({ graceMs: 1_000 });
      process.start(args());
      await ready();
    },
  };
}

const auditEverything = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

function commonArgs({ etcdUrl, files: { file } }: ApiserverSetting): readonly string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    // The Service "kubernetes" cannot point to loopback addresses, and nothing here needs it.
    '--endpoint-reconciler-type=none',
    `--service-cluster-ip-range=${serviceRange}`,
    `--client-ca-file=${file.caCertificate}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth=true',
    '--allow-privileged=true',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${file.serviceAccountKey}`,
    `--kubelet-client-certificate=${file.kubeletClientCertificate}`,
    `--kubelet-client-key=${file.kubeletClientKey}`,
    // As Talos sets it; the default tries the host name first, for which there is no resolver here.
    '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
    `--requestheader-client-ca-file=${file.frontProxyCaCertificate}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    `--proxy-client-cert-file=${file.frontProxyCertificate}`,
    `--proxy-client-key-file=${file.frontProxyKey}`,
  ];
}
