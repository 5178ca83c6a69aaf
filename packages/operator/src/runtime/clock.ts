/**
 * Time as the operator sees it. Everything that waits goes through here, so that a test can run
 * hours in milliseconds.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `task` once after `delayMs`; the returned function takes that back. */
  after(delayMs: number, task: () => void): () => void;
}

/** The clock of the machine. Timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, task) => {
    // setTimeout takes 31 bits; whoever wants to wait longer is woken early and asks again.
    const timer = setTimeout(task, Math.min(Math.max(delayMs, 0), 0x7fff_ffff));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
