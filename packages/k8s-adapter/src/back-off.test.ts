import { describe, expect, it } from 'vitest';
import { backOff, fullJitter } from './back-off.ts';

describe('pauses', () => {
  it('double up to the longest, of which a half to all is waited', () => {
    const least = [0, 1, 2, 3, 6, 500].map((setbacks) => backOff(setbacks, 1000, 30_000, 0));
    expect(least).toEqual([0, 500, 1000, 2000, 15_000, 15_000]);
    expect(backOff(1, 1000, 30_000, 0.999)).toBeCloseTo(999.5);
  });

  it('are anything from nothing to the ceiling with full jitter', () => {
    expect(fullJitter(1, 250, 5000, 0)).toBe(0);
    expect([1, 2, 3, 9].map((attempt) => fullJitter(attempt, 250, 5000, 1))).toEqual([
      250, 500, 1000, 5000,
    ]);
  });
});
