import { describe, expect, it } from 'vitest';
import { ServerClock } from './server-clock.ts';

const date = Date.UTC(2030, 0, 1);
const header = (at: number) => new Date(at).toUTCString();

/** A clock of ours that a test sets. */
function clockAt(start: number) {
  const ours = { now: start };
  return { ours, clock: new ServerClock(() => ours.now) };
}

describe("the server's clock", () => {
  it('is unknown before the first answer, and after one without a date', () => {
    const { clock } = clockAt(0);
    expect(clock.time()).toBeUndefined();
    clock.observe(undefined, 0, 1);
    clock.observe('not a date', 0, 1);
    expect(clock.time()).toBeUndefined();
    clock.observe(header(date), 0, 0);
    expect(clock.time()).toBe(date + 500);
  });

  it('is carried on by ours, and does not follow a step of the wall clock', () => {
    const { ours, clock } = clockAt(100);
    clock.observe(header(date), 100, 100);
    ours.now = 100 + 60_000;
    expect(clock.time()).toBe(date + 500 + 60_000);
  });

  it('takes the time on the way into account', () => {
    const { clock } = clockAt(2000);
    clock.observe(header(date), 0, 2000);
    // Stamped somewhere between sending and receiving: the middle of what is possible.
    expect(clock.time()).toBe(date + 500 + 1000);
  });

  it('becomes more exact with every answer', () => {
    const { ours, clock } = clockAt(0);
    // The server is at date + 900 ms when ours is at 0.
    for (const at of [0, 150, 700, 1100]) {
      const stamped = date + Math.floor((900 + at) / 1000) * 1000;
      clock.observe(header(stamped), at, at);
    }
    ours.now = 1100;
    const error = (clock.time() ?? 0) - (date + 2000);
    // One answer alone leaves half a second.
    expect(Math.abs(error)).toBeLessThanOrEqual(75);
  });

  it('starts afresh where the server has another time than before', () => {
    const { ours, clock } = clockAt(0);
    clock.observe(header(date), 0, 0);
    ours.now = 10;
    clock.observe(header(date + 3_600_000), 10, 10);
    expect(clock.time()).toBe(date + 3_600_000 + 500);
  });
});
