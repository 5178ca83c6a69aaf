import { describe, expect, it } from 'vitest';
import { tokenBucket } from './rate-limit.ts';

function limited(perSecond: number, burst: number) {
  const time = { now: 0, waited: [] as number[] };
  const limit = tokenBucket(perSecond, burst, {
    now: () => time.now,
    wait: async (milliseconds) => void time.waited.push(milliseconds),
  });
  return { time, limit };
}

describe('a token bucket', () => {
  it('lets a burst through at once and makes the others queue', async () => {
    const { time, limit } = limited(10, 3);
    for (let count = 0; count < 6; count += 1) await limit.take();
    expect(time.waited).toEqual([100, 200, 300]);
  });

  it('fills up again with time, to the burst at most', async () => {
    const { time, limit } = limited(10, 3);
    for (let count = 0; count < 3; count += 1) await limit.take();
    time.now = 60_000;
    for (let count = 0; count < 4; count += 1) await limit.take();
    expect(time.waited).toEqual([100]);
  });
});
