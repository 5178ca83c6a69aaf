import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from './kubectl.ts';

const program = fileURLToPath(new URL('../../operator/bin/ichor.mjs', import.meta.url));

/** Runs the built `ichor` to its end, as `npx ichor` does; a non-zero exit code is a result. */
export function runIchor(args: readonly string[], stdin?: string): Promise<CommandResult> {
  return runCommand(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'] },
    stdin,
  });
}
