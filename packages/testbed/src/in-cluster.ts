import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a pod finds: a directory of files and two variables. */
export type InCluster = {
  /** Directory with `token`, `ca.crt` and `namespace`. */
  readonly directory: string;
  /** `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. */
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  /**
   * The command that runs another one with the directory at
   * `/var/run/secrets/kubernetes.io/serviceaccount`, in a mount namespace of its own.
   */
  wrap(
    command: string,
    args: readonly string[],
  ): { readonly command: string; readonly args: readonly string[] };
};

const mountPoint = '/var/run/secrets/kubernetes.io/serviceaccount';
// The temporary file system keeps the mount point off the machine's own /var/run.
const mountAndRun = `
set -e
directory=$1
shift
mount -t tmpfs tmpfs "$(readlink -f /var/run)"
mkdir -p ${mountPoint}
mount --bind "$directory" ${mountPoint}
exec "$@"
`;

/** Lays down what a pod of a service account gets. */
export async function createInCluster(
  directory: string,
  content: {
    readonly token: string;
    readonly caPem: string;
    readonly namespace: string;
    readonly host: string;
    readonly port: number;
  },
): Promise<InCluster> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(join(directory, 'token'), content.token, { mode: 0o600 });
  await writeFile(join(directory, 'ca.crt'), content.caPem);
  await writeFile(join(directory, 'namespace'), content.namespace);
  return {
    directory,
    token: content.token,
    env: {
      KUBERNETES_SERVICE_HOST: content.host,
      KUBERNETES_SERVICE_PORT: String(content.port),
    },
    wrap: (command, args) => ({
      command: 'unshare',
      args: ['--mount', 'sh', '-c', mountAndRun, 'sh', directory, command, ...args],
    }),
  };
}
