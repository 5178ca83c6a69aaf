import { expect, it } from 'vitest';
import { growingTime } from './clock.ts';

it('time goes on from where it was when the clock is set back, and follows when it is set ahead', () => {
  let wall = 1_000_000;
  const now = growingTime(() => wall);
  expect(now()).toBe(1_000_000);
  wall += 500;
  expect(now()).toBe(1_000_500);
  wall -= 3_600_000;
  expect(now()).toBe(1_000_500);
  wall += 10_000;
  expect(now()).toBe(1_010_500);
  wall += 7_200_000;
  expect(now()).toBe(8_210_500);
});
