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

/**
 * Milliseconds that never go back. A reading is young by the time since it was made: were the
 * clock of the machine set back, each would stay young for as long as it was set back. Jumps ahead
 * are followed, because that is how the time shows that a machine was suspended for.
 *
 * @param wall milliseconds since the epoch, as the clock of the machine has them
 */
export function growingTime(wall: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY;
  let ahead = 0;
  return () => {
    const read = wall();
    ahead = Math.max(ahead, last - read);
    last = read + ahead;
    return last;
  };
}

/** The clock of the machine. Timers do not keep the process alive. */
export const systemClock: Clock = {
  now: growingTime(Date.now),
  after: (delayMs, task) => {
    // setTimeout takes 31 bits; whoever wants to wait longer is woken early and asks again.
    const timer = setTimeout(task, Math.min(Math.max(delayMs, 0), 0x7fff_ffff));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
