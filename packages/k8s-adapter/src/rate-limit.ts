/** Lets calls through at a bounded rate, first come first served. */
export interface RateLimit {
  /** Resolves when the caller may go on. */
  take(): Promise<void>;
}

/** Where a rate limit gets its time from: milliseconds that only grow, and a way to wait. */
export interface LimitTiming {
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
}

const realTiming: LimitTiming = {
  now: () => performance.now(),
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** A token bucket: `burst` calls at once, then `perSecond` a second. */
export function tokenBucket(
  perSecond: number,
  burst: number,
  timing: LimitTiming = realTiming,
): RateLimit {
  let tokens = burst;
  let filledAt = timing.now();
  return {
    async take() {
      const now = timing.now();
      tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
      filledAt = now;
      // Going below zero is the queue: each who comes later waits for one token more.
      tokens -= 1;
      if (tokens < 0) await timing.wait((-tokens / perSecond) * 1000);
    },
  };
}
