import type { ReceivedRequest } from '@ichor/k8s-adapter';
import { describe, expect, it } from 'vitest';
import { isUndecided, newestByUser, reasonToLeave, staleMs } from './plan-requests.ts';

const request = (
  username: string,
  createdAt: number,
  status: ReceivedRequest['csr']['status'] = null,
): ReceivedRequest => ({
  name: 'csr-1',
  uid: 'uid-1',
  resourceVersion: '1',
  createdAt,
  csr: { spec: { username }, status: status ?? null },
  conditions: [],
  raw: undefined,
});

describe('reasonToLeave', () => {
  it('leaves what the same user has asked anew, strictly later', () => {
    const old = request('system:node:a', 1_000);
    const leave = (...others: ReceivedRequest[]) =>
      reasonToLeave(old, newestByUser([old, ...others]), undefined);
    expect(leave(request('system:node:a', 2_000))).toMatchObject({ reason: 'RequestSuperseded' });
    expect(leave(request('system:node:a', 1_000))).toBeUndefined();
    expect(leave(request('system:node:b', 2_000))).toBeUndefined();
  });

  it('counts a newer one that is decided, too', () => {
    const old = request('system:node:a', 1_000);
    const decided = request('system:node:a', 2_000, { conditions: [{ type: 'Denied' }] });
    expect(reasonToLeave(old, newestByUser([old, decided]), undefined)).toMatchObject({
      reason: 'RequestSuperseded',
    });
  });

  it('leaves what is older than a kubelet waits, by the clock of the server', () => {
    const old = request('a', 0);
    expect(reasonToLeave(old, newestByUser([old]), staleMs)).toBeUndefined();
    expect(reasonToLeave(old, newestByUser([old]), staleMs + 1)).toMatchObject({
      reason: 'RequestStale',
    });
    expect(reasonToLeave(old, newestByUser([old]), undefined)).toBeUndefined();
  });
});

describe('isUndecided', () => {
  it.each([
    ['Approved', false],
    ['Denied', false],
    ['Failed', false],
    ['Custom', true],
  ] as const)('with the condition %s: %s', (type, undecided) => {
    expect(isUndecided(request('a', 0, { conditions: [{ type }] }))).toBe(undecided);
  });

  it('is false with a certificate and true with an empty one', () => {
    expect(isUndecided(request('a', 0, { certificate: 'LS0t' }))).toBe(false);
    expect(isUndecided(request('a', 0, { certificate: '' }))).toBe(true);
  });
});
