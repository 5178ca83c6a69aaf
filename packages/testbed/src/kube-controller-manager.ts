import { join } from 'node:path';
import type { ControlPlaneFiles } from './control-plane-files.ts';
import { kubeRequester } from './kube-request.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
import { freePort } from './network-namespace.ts';
import { type PartProcess, startPart } from './part-process.ts';

/** A running kube-controller-manager. */
export type ControllerManager = {
  readonly process: PartProcess;
  /** Resolves when `/healthz` answers 200. */
  ready(): Promise<void>;
  /** Stops it and starts it again, healthy when this resolves. */
  restart(): Promise<void>;
};

// What certificates, bootstrap tokens and service accounts need, and nothing that schedules or scales.
const controllers = [
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-signing-controller',
  'certificatesigningrequest-cleaner-controller',
  'bootstrap-signer-controller',
  'token-cleaner-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
  'namespace-controller',
  'garbage-collector-controller',
];

/** Starts a controller manager that signs approved requests; it is not healthy yet when this resolves. */
export async function startControllerManager(setting: {
  readonly binary: string;
  readonly directory: string;
  readonly logs: string;
  readonly server: string;
  readonly files: ControlPlaneFiles;
  /** Longest lifetime that the signer gives, as a Go duration; default its own, a year. */
  readonly signingDuration?: string | undefined;
}): Promise<ControllerManager> {
  const { ca, file } = setting.files;
  const port = await freePort();
  const kubeconfig = await writeKubeconfig(
    join(setting.directory, 'controller-manager.kubeconfig'),
    setting.server,
    ca.certificate,
    ca.client({ commonName: 'system:kube-controller-manager' }),
  );
  const process = startPart({
    name: 'kube-controller-manager',
    command: setting.binary,
    log: join(setting.logs, 'kube-controller-manager.log'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${join(setting.directory, 'controller-manager')}`,
      '--leader-elect=false',
      '--use-service-account-credentials=true',
      `--root-ca-file=${file.caCertificate}`,
      `--service-account-private-key-file=${file.serviceAccountKey}`,
      `--cluster-signing-cert-file=${file.caCertificate}`,
      `--cluster-signing-key-file=${file.caKey}`,
      ...(setting.signingDuration === undefined
        ? []
        : [`--cluster-signing-duration=${setting.signingDuration}`]),
      // The default of 20 requests a second would make the signer the slowest part of every test.
      '--kube-api-qps=300',
      '--kube-api-burst=600',
      `--controllers=${controllers.join(',')}`,
    ],
  });
  const ready = async (): Promise<void> => {
    const probe = kubeRequester(`https://127.0.0.1:${port}`, ca.certificate, 'anonymous', {
      // It signs its own serving certificate at start, which chains to nothing.
      verifyServer: false,
    });
    try {
      await process.ready(async () => (await probe.send('/healthz')).status === 200);
    } finally {
      probe.close();
    }
  };
  return {
    process,
    ready,
    async restart() {
      await process.stop();
      process.start();
      await ready();
    },
  };
}
