import { setImmediate } from 'node:timers/promises';
import type { VirtualClock } from '../testing/virtual-clock.ts';

interface Timer {
  readonly at: number;
  readonly serial: number;
  readonly task: () => void;
  live: boolean;
}

/**
 * A virtual clock for runs with a great many timers. Everything in a simulation lives in memory, so
 * one turn of the event loop between timers lets all of its promises run.
 *
 * @param start milliseconds since the epoch
 */
export function simulationClock(start: number): VirtualClock {
  let now = start;
  let serial = 0;
  const heap = new TimerHeap();
  return {
    now: () => now,
    after: (delayMs, task) => {
      serial += 1;
      // As the timers of Node: whole milliseconds, at least one.
      const at = now + Math.max(1, Math.trunc(delayMs));
      const timer: Timer = { at, serial, task, live: true };
      heap.push(timer);
      return () => {
        timer.live = false;
      };
    },
    advance: async (ms) => {
      const end = now + ms;
      await setImmediate();
      for (let due = heap.pop(end); due !== undefined; due = heap.pop(end)) {
        if (!due.live) continue;
        now = Math.max(now, due.at);
        due.task();
        await setImmediate();
      }
      now = end;
    },
  };
}

/** Timers, the earliest first; those of one moment in the order in which they were set. */
class TimerHeap {
  readonly #timers: Timer[] = [];

  push(timer: Timer): void {
    const timers = this.#timers;
    let index = timers.length;
    timers.push(timer);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = timers[parent];
      if (above === undefined || !isBefore(timer, above)) break;
      timers[index] = above;
      index = parent;
    }
    timers[index] = timer;
  }

  /** Takes the earliest timer out, if it is due by `end`. */
  pop(end: number): Timer | undefined {
    const timers = this.#timers;
    const first = timers[0];
    if (first === undefined || first.at > end) return undefined;
    const last = timers.pop();
    if (last === undefined || timers.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = index * 2 + 1;
      const left = timers[child];
      if (left === undefined) break;
      const right = timers[child + 1];
      let smaller = left;
      if (right !== undefined && isBefore(right, left)) {
        smaller = right;
        child += 1;
      }
      if (!isBefore(smaller, last)) break;
      timers[index] = smaller;
      index = child;
    }
    timers[index] = last;
    return first;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.serial < b.serial);
}
