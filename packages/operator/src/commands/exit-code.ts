/** Exit codes of every command. */
export const exitCode = {
  /** Approved, or done. */
  ok: 0,
  /** Denied, or a difference was found. */
  denied: 1,
  /** Left pending. */
  pending: 2,
  /** The command line, or a file that it names, cannot be used (EX_USAGE). */
  usage: 64,
} as const;

/** An input that cannot be used: one sentence that names it and the way out. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
