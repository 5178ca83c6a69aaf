/** Fields of one log line. Values must survive JSON. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes structured log lines. */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each line. */
  with(fields: LogFields): Logger;
}

/** One JSON object per line: `time` (RFC 3339), `level`, `message`, then the fields. */
export function jsonLogger(
  write: (line: string) => void,
  now: () => number,
  bound: LogFields = {},
): Logger {
  const line =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      write(
        `${JSON.stringify({ time: new Date(now()).toISOString(), level, message, ...bound, ...fields })}\n`,
      );
  return {
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => jsonLogger(write, now, { ...bound, ...fields }),
  };
}
