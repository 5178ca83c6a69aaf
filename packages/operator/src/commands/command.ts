/** Where a command writes to and reads from. */
export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input, as octets or text, piece by piece. */
  readonly stdin: () => AsyncIterable<unknown>;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
}

/** One subcommand of `ichor`. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole text of `--help`. */
  readonly help: string;
  /**
   * @param args what follows the name
   * @returns the exit code
   * @throws UsageError where an argument or a file cannot be used
   */
  run(args: readonly string[], io: CommandIo): Promise<number>;
}
