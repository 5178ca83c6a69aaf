import type { Clock } from '../runtime/clock.ts';

/** A clock that moves only when told to. */
export interface VirtualClock extends Clock {
  /** Lets time pass, timer by timer, with all work that becomes possible in between. */
  advance(ms: number): Promise<void>;
}

/** @param start milliseconds since the epoch */
export function virtualClock(start: number): VirtualClock {
  let now = start;
  let serial = 0;
  const timers = new Map<number, { readonly at: number; readonly task: () => void }>();
  const next = () => [...timers.entries()].sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
  return {
    now: () => now,
    after: (delayMs, task) => {
      serial += 1;
      const id = serial;
      timers.set(id, { at: now + Math.max(0, delayMs), task });
      return () => timers.delete(id);
    },
    advance: async (ms) => {
      const end = now + ms;
      await settle();
      for (let due = next(); due !== undefined && due[1].at <= end; due = next()) {
        const [id, { at, task }] = due;
        timers.delete(id);
        now = Math.max(now, at);
        task();
        await settle();
      }
      now = end;
      await settle();
    },
  };
}

/** Lets everything run that can run without time passing. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
