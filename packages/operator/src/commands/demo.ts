import type { Command } from './command.ts';
import { exitCode } from './exit-code.ts';
import { parseFlags } from './flags.ts';

/** `ichor demo`: what the operator does, without a cluster. */
export const demoCommand: Command = {
  name: 'demo',
  summary: 'show what the operator does, without a cluster',
  help: `Usage: ichor demo

Runs the operator against a Kubernetes and a Talos in memory: five machines, honest requests and
hostile ones. Prints what became of each and why, with a mark where it is what must happen.

  -h, --help   this text

Exit codes: 0 every outcome is the expected one, 1 some outcome is not, 64 wrong usage.
`,
  run: async (args, io) => {
    parseFlags('demo', args, {});
    const { runDemo } = await import('../demo/run-demo.ts');
    const differences = await runDemo({
      write: io.out,
      columns: process.stdout.columns ?? (Number(io.env['COLUMNS']) || 120),
      colour: process.stdout.isTTY === true && io.env['NO_COLOR'] === undefined,
    });
    if (differences > 0) {
      io.err(`${differences} outcomes are not the expected ones.\n`);
      return exitCode.denied;
    }
    io.out('Every outcome is the expected one.\n');
    return exitCode.ok;
  },
};
