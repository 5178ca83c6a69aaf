import { errorText } from '../runtime/error-text.ts';
import type { Command, CommandIo } from './command.ts';
import { decideCommand } from './decide.ts';
import { demoCommand } from './demo.ts';
import { exitCode, UsageError } from './exit-code.ts';
import { manifestsCommand } from './manifests.ts';
import { renderCommand } from './render.ts';
import { runCommand } from './run.ts';
import { version } from './version.ts';

const commands: readonly Command[] = [
  runCommand,
  decideCommand,
  renderCommand,
  manifestsCommand,
  demoCommand,
];

const usage = `Usage: ichor COMMAND [FLAGS]

Approves exactly the kubelet serving certificates that Talos Linux nodes are entitled to.

${commands.map(({ name, summary }) => `  ${name.padEnd(11)}${summary}`).join('\n')}

  ichor COMMAND --help   the flags of a command
  ichor --version        the version

Exit codes: 0 approved or done, 1 denied or a difference found, 2 pending, 64 wrong usage.
`;

/** Runs `ichor` with the process's own input and output. Returns the exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const abort = new AbortController();
  // The operator finishes what it is writing. All other commands end at once, as programs do.
  if (argv[0] === runCommand.name) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => abort.abort());
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // Whoever reads may have had enough, as `head` does: there is nobody left to tell.
      if (error.code === 'EPIPE') return abort.abort();
      // Not the exit code of a decision that nobody could read.
      process.stderr.write(
        `ichor: the output cannot be written (${error.code}); free its place.\n`,
      );
      process.exit(exitCode.usage);
    });
  }
  return runCommandLineWith(argv, {
    out: (line) => process.stdout.write(line),
    err: (line) => process.stderr.write(line),
    env: process.env,
    stdin: () => process.stdin,
    signal: abort.signal,
  });
}

/** Runs `ichor` with the given input and output. Returns the exit code. */
export async function runCommandLineWith(argv: readonly string[], io: CommandIo): Promise<number> {
  const [name, ...args] = argv;
  if (name === '--help' || name === '-h' || name === 'help') {
    io.out(usage);
    return exitCode.ok;
  }
  if (name === '--version' || name === 'version') {
    io.out(`${version}\n`);
    return exitCode.ok;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    io.err(
      name === undefined
        ? usage
        : `ichor: there is no command ${JSON.stringify(name)}; see 'ichor --help'.\n`,
    );
    return exitCode.usage;
  }
  if (args.includes('--help') || args.includes('-h')) {
    io.out(command.help);
    return exitCode.ok;
  }
  try {
    return await command.run(args, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.err(`ichor ${command.name}: ${shown(errorText(error))}\n`);
    return exitCode.usage;
  }
}

/** Longest sentence about an input, in characters. */
const maxShown = 1000;

/** A sentence that may quote a file: one line, nothing that a terminal obeys, and of bounded length. */
function shown(sentence: string): string {
  const cut = sentence.length > maxShown ? `${sentence.slice(0, maxShown)}…` : sentence;
  return cut.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
