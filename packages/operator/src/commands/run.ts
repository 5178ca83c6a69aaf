import { errorText } from '../runtime/error-text.ts';
import { jsonLogger } from '../runtime/logger.ts';
import type { Command } from './command.ts';
import { exitCode, UsageError } from './exit-code.ts';
import { namespaceName, parseFlags } from './flags.ts';

/** Where Talos puts the credentials of a pod that asked for them (`talos.dev/v1alpha1`). */
const podTalosconfig = '/var/run/secrets/talos.dev/config';

/** `ichor run`: the operator. */
export const runCommand: Command = {
  name: 'run',
  summary: 'run the operator',
  help: `Usage: ichor run [--kubeconfig FILE] [--namespace NAME] [--talosconfig FILE]

Watches the TalosClusters of one namespace and decides the kubelet serving requests of each cluster
that has the option enabled. Logs one JSON object per line on standard output. SIGTERM and SIGINT
end it; whatever is being written is finished first.

  --kubeconfig FILE   how to reach the cluster with the TalosClusters; default: as a pod of it
  --namespace NAME    namespace of the TalosClusters, TalosMachines and Secrets; default: the
                      namespace of the pod or of the kubeconfig's context, else ichor-system
  --talosconfig FILE  Talos credentials for TalosClusters that name no Secret; default: $TALOSCONFIG,
                      else ${podTalosconfig}. Read again whenever it changes.
  -h, --help          this text

A TalosCluster may name Secrets of the namespace instead: spec.talos.talosconfigSecretRef (key
config) and spec.kubernetes.kubeconfigSecretRef (key kubeconfig).

Exit codes: 0 ended by a signal, 64 wrong usage or a file that cannot be used.
`,
  run: async (args, io) => {
    const flags = parseFlags('run', args, {
      kubeconfig: { type: 'string' },
      namespace: { type: 'string' },
      talosconfig: { type: 'string' },
    });
    const chosen =
      flags.namespace === undefined ? undefined : namespaceName('namespace', flags.namespace);
    const logger = jsonLogger(io.out, Date.now);
    const talosconfig = flags.talosconfig ?? io.env['TALOSCONFIG'] ?? podTalosconfig;
    // The clients of both APIs take longer to load than all other commands to run.
    const { openRealPorts } = await import('../clusters/real-ports.ts');
    const { Operator } = await import('../clusters/operator.ts');
    const opened = openRealPorts({
      kubeconfig: flags.kubeconfig,
      namespace: chosen,
      talosconfig,
      env: io.env,
      logger,
    });
    if (opened.kind === 'unusable') throw new UsageError(opened.problem);
    const { ports, server } = opened;
    const operator = new Operator(ports);
    logger.info('starting', { server, namespace: ports.inventory.namespace, talosconfig });
    operator.start();
    await ended(io.signal);
    logger.info('stopping');
    await operator.stop().catch((error: unknown) => {
      logger.error('stopping failed', { error: errorText(error) });
    });
    return exitCode.ok;
  },
};

/** Timers do not keep the process alive, so something must until it is asked to end. */
async function ended(signal: AbortSignal): Promise<void> {
  const alive = setInterval(() => undefined, 60_000);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  clearInterval(alive);
}
