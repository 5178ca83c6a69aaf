import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a part is started. */
export type PartCommand = {
  /** Name used in messages, such as `kube-apiserver`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** File that collects stdout and stderr; appended to, so that restarts keep their history. */
  readonly log: string;
  readonly env?: NodeJS.ProcessEnv;
};

/** One running program of the testbed. It is stopped by its own pid only. */
export type PartProcess = {
  readonly name: string;
  /** File with everything the program printed. */
  readonly log: string;
  /** Pid of the running program; `undefined` while it is stopped. */
  readonly pid: () => number | undefined;
  /** Starts it again after {@link PartProcess.stop}, with other arguments where they are given. */
  start(args?: readonly string[]): void;
  /** SIGTERM, and SIGKILL after the grace time; resolves once the process is gone. */
  stop(options?: { readonly graceMs?: number; readonly signal?: NodeJS.Signals }): Promise<void>;
  /**
   * Waits until the probe answers true.
   *
   * @throws Error when the program ends meanwhile or the time is up, with the last lines of its log.
   */
  ready(probe: () => Promise<boolean>, timeoutMs?: number): Promise<void>;
};

const running = new Set<ChildProcess>();

// Whatever ends this process, nothing that it started may outlive it.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a program in the background. */
export function startPart(command: PartCommand): PartProcess {
  let child: ChildProcess | undefined;
  let args = command.args;
  let failure: string | undefined;

  const launch = (): void => {
    const output = openSync(command.log, 'a');
    failure = undefined;
    const started = spawn(command.command, args, {
      stdio: ['ignore', output, output],
      ...(command.env === undefined ? {} : { env: command.env }),
    });
    closeSync(output);
    child = started;
    running.add(started);
    started.once('error', (error) => {
      failure = error.message;
      running.delete(started);
    });
    started.once('exit', (code, signal) => {
      failure = `it ended with ${signal ?? `exit code ${code}`}`;
      running.delete(started);
    });
  };
  launch();

  return {
    name: command.name,
    log: command.log,
    pid: () => (child !== undefined && isAlive(child) ? child.pid : undefined),
    start(newArgs) {
      if (child !== undefined && isAlive(child)) throw new Error(`${command.name} is running.`);
      args = newArgs ?? args;
      launch();
    },
    async stop({ graceMs = 5_000, signal = 'SIGTERM' } = {}) {
      const stopping = child;
      if (stopping === undefined || !isAlive(stopping)) return;
      const gone = new Promise<void>((done) => stopping.once('exit', () => done()));
      stopping.kill(signal);
      const timer = setTimeout(() => stopping.kill('SIGKILL'), graceMs);
      await gone;
      clearTimeout(timer);
    },
    async ready(probe, timeoutMs = 30_000) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        if (failure !== undefined) {
          throw new Error(`${command.name} did not start: ${failure}.\n${logTail(command.log)}`);
        }
        if (await probe().catch(() => false)) return;
        if (performance.now() > deadline) {
          throw new Error(
            `${command.name} was not ready within ${timeoutMs / 1000} s.\n${logTail(command.log)}`,
          );
        }
        await sleep(50);
      }
    },
  };
}

function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

function logTail(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return `The last lines of ${file}:\n${lines.slice(-15).join('\n')}`;
}
