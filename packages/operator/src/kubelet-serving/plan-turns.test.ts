import { describe, expect, it } from 'vitest';
import {
  doubtfulSlots,
  otherSlots,
  ownSlots,
  patienceMs,
  planTurns,
  type RunningDecision,
  repeatMs,
  type TurnSnapshot,
  type WaitingRequest,
} from './plan-turns.ts';

const now = 1_000_000;
const waiting = (user: string, uid: string, own = true, createdAt = 0): WaitingRequest => ({
  uid,
  user,
  own,
  doubtful: false,
  createdAt,
  firstSeenAt: createdAt,
});
const running = (user: string, changes: Partial<RunningDecision> = {}): RunningDecision => ({
  user,
  own: true,
  doubtful: false,
  firstTurn: true,
  startedAt: now - 10,
  generation: 1,
  ...changes,
});
const plan = (snapshot: Partial<TurnSnapshot>) =>
  planTurns({ now, waiting: [], running: [], servedAt: new Map(), ...snapshot });

describe('planTurns', () => {
  it('starts one request of each user, the oldest first', () => {
    const { start } = plan({
      waiting: [waiting('a', 'a-2', true, 2), waiting('a', 'a-1', true, 1), waiting('b', 'b-1')],
    });
    expect(start).toEqual(['b-1', 'a-1']);
  });

  it('starts nothing for a user whose decision is on its way', () => {
    expect(plan({ waiting: [waiting('a', 'a-1')], running: [running('a')] }).start).toEqual([]);
    expect(plan({ waiting: [waiting('a', 'a-1')], running: [running('b')] }).start).toEqual([
      'a-1',
    ]);
  });

  it('lets a user that was just served wait for those that were not', () => {
    const both = [waiting('flood', 'f-1', true, 1), waiting('honest', 'h-1', true, 2)];
    const justServed = new Map([['flood', now - repeatMs + 1]]);
    expect(plan({ waiting: both, servedAt: justServed }).start).toEqual(['h-1']);
    const longAgo = new Map([['flood', now - repeatMs]]);
    expect(plan({ waiting: both, servedAt: longAgo }).start).toEqual(['h-1', 'f-1']);
    expect(plan({ waiting: [waiting('flood', 'f-1')], servedAt: justServed }).start).toEqual([
      'f-1',
    ]);
  });

  it('lets a decision on its way hold up repeats for a second, and no longer', () => {
    const snapshot = {
      waiting: [waiting('flood', 'f-1')],
      servedAt: new Map([['flood', now - 1]]),
    };
    const hurried = plan({ ...snapshot, running: [running('honest')] });
    expect(hurried).toEqual({ start: [], againInMs: patienceMs - 10 });
    const slow = running('frozen', { startedAt: now - patienceMs });
    expect(plan({ ...snapshot, running: [slow] }).start).toEqual(['f-1']);
    // A repeat on its way holds up no other repeat.
    const repeat = running('other-flood', { firstTurn: false });
    expect(plan({ ...snapshot, running: [repeat] }).start).toEqual(['f-1']);
  });

  it('serves machines’ own users before all others', () => {
    const mixed = [waiting('mallory', 'm-1', false, 1), waiting('honest', 'h-1', true, 2)];
    expect(plan({ waiting: mixed }).start).toEqual(['h-1']);
    expect(plan({ waiting: mixed.slice(0, 1) }).start).toEqual(['m-1']);
    expect(plan({ waiting: mixed.slice(0, 1), running: [running('honest')] }).start).toEqual([]);
  });

  it('keeps half of the slots from machines that did not answer', () => {
    const silent = Array.from({ length: 50 }, (_, index) => ({
      ...waiting(`silent-${index}`, `s-${index}`),
      doubtful: true,
    }));
    expect(plan({ waiting: silent }).start).toHaveLength(doubtfulSlots);
    const honest = waiting('honest', 'h-1', true, 9);
    expect(plan({ waiting: [...silent, honest] }).start).toContain('h-1');
    const busy = Array.from({ length: doubtfulSlots }, (_, index) =>
      running(`busy-${index}`, { doubtful: true, startedAt: now - patienceMs }),
    );
    expect(plan({ waiting: [...silent, honest], running: busy }).start).toEqual(['h-1']);
  });

  it('lets nobody wait for machines that did not answer', () => {
    const silent = { ...waiting('silent', 's-1'), doubtful: true };
    const repeat = waiting('flood', 'f-1');
    const stranger = waiting('mallory', 'm-1', false);
    const servedAt = new Map([['flood', now - 1]]);
    const all = plan({ waiting: [repeat, stranger, silent], servedAt }).start;
    expect(all).toEqual(['s-1', 'f-1', 'm-1']);
    const trying = running('silent', { doubtful: true });
    const others = plan({ waiting: [repeat, stranger], running: [trying], servedAt }).start;
    expect(others).toEqual(['f-1', 'm-1']);
    const answering = running('honest');
    expect(plan({ waiting: [repeat, stranger], running: [answering], servedAt }).start).toEqual([]);
  });

  it('keeps within its slots', () => {
    const many = (own: boolean) =>
      Array.from({ length: 50 }, (_, index) => waiting(`user-${index}`, `r-${index}`, own));
    expect(plan({ waiting: many(true) }).start).toHaveLength(ownSlots);
    expect(plan({ waiting: many(false) }).start).toHaveLength(otherSlots);
    const busy = Array.from({ length: ownSlots }, (_, index) => running(`busy-${index}`));
    expect(plan({ waiting: many(true), running: busy }).start).toEqual([]);
  });
});
