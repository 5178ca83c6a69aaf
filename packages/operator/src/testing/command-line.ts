import { Readable } from 'node:stream';
import { runCommandLineWith } from '../commands/main.ts';

/** How a command ended and what it wrote. */
export interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What a command finds around it. */
export interface CommandSurroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Runs `ichor` with these arguments in this process. */
export async function ichor(
  args: readonly string[],
  { env = {}, stdin = '' }: CommandSurroundings = {},
): Promise<CommandOutcome> {
  let out = '';
  let err = '';
  const code = await runCommandLineWith(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    env,
    stdin: () => Readable.from([stdin]),
    signal: AbortSignal.abort(),
  });
  return { code, out, err };
}
