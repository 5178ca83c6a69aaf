/** Numbers that are the same for the same seed, for a run that can be repeated exactly. */
export interface SeededRandom {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of the items; there must be one. */
  pick<T>(items: readonly T[]): T;
  /** A stream of its own, so that more draws here shift nothing there. */
  fork(): SeededRandom;
}

/** @param seed a whole number; equal seeds give equal streams (mulberry32) */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  return {
    next,
    int: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    },
    fork: () => seededRandom(Math.floor(next() * 0x1_0000_0000)),
  };
}
