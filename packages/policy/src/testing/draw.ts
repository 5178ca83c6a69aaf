/** Repeatable choices from one number, so that a fault has many shapes and still shrinks. */
export interface Draw {
  /** A whole number from 0 up to, but not including, `bound`. */
  below(bound: number): number;
  /** One of these. */
  one<T>(choices: readonly [T, ...T[]]): T;
  /** The same elements in another order. */
  shuffled<T>(elements: readonly T[]): T[];
}

/** Choices that follow from `seed` alone (xorshift with 32 bits). */
export function drawFrom(seed: number): Draw {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  const below = (bound: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % bound;
  };
  return {
    below,
    one: <T>(choices: readonly [T, ...T[]]): T => choices[below(choices.length)] ?? choices[0],
    shuffled: <T>(elements: readonly T[]): T[] => {
      const order = [...elements];
      for (let last = order.length - 1; last > 0; last -= 1) {
        const other = below(last + 1);
        [order[last], order[other]] = [order[other] as T, order[last] as T];
      }
      return order;
    },
  };
}
