import type { ReceivedRequest } from '@ichor/k8s-adapter';
import type { Settlement } from './plan-decision.ts';
import type { RunningDecision } from './plan-turns.ts';

/** First delay before a pending request is tried again, and the longest, in milliseconds. */
export const retryMs = { first: 5_000, longest: 60_000 };

/** What the operator remembers about one undecided request. Times are milliseconds since the epoch. */
export interface RequestTrack {
  request: ReceivedRequest;
  readonly firstSeenAt: number;
  /** Tries that ended pending. */
  attempts: number;
  nextTryAt: number;
  running: RunningDecision | undefined;
  /** The last settlement that was logged. */
  last: Settlement | undefined;
  /** The resource version that a decision was written over: the watch is yet to show it. */
  writtenOver: string | undefined;
}

/** Remembers undecided requests by uid. */
export class RequestTracks {
  readonly #tracks = new Map<string, RequestTrack>();

  /** Takes over the undecided requests as they are now and forgets all others. */
  observe(undecided: readonly ReceivedRequest[], now: number): void {
    const seen = new Set<string>();
    for (const request of undecided) {
      seen.add(request.uid);
      const track = this.#tracks.get(request.uid);
      if (track === undefined) {
        this.#tracks.set(request.uid, {
          request,
          firstSeenAt: now,
          attempts: 0,
          nextTryAt: now,
          running: undefined,
          last: undefined,
          writtenOver: undefined,
        });
      } else if (track.request.resourceVersion !== request.resourceVersion) {
        // Somebody changed it: whatever was decided about the older one is decided anew.
        track.request = request;
        track.writtenOver = undefined;
        track.nextTryAt = now;
      }
    }
    for (const uid of this.#tracks.keys()) if (!seen.has(uid)) this.#tracks.delete(uid);
  }

  get(uid: string): RequestTrack | undefined {
    return this.#tracks.get(uid);
  }

  all(): readonly RequestTrack[] {
    return [...this.#tracks.values()];
  }

  /** Lets every pending request be tried at once: something that they rest on has changed. */
  tryAllAgain(now: number): void {
    for (const track of this.#tracks.values()) {
      track.attempts = 0;
      track.nextTryAt = now;
    }
  }
}

/** Puts off a request that is pending: 5 s, doubling to 60 s. */
export function putOff(track: RequestTrack, now: number): void {
  const delay = Math.min(retryMs.first * 2 ** Math.min(track.attempts, 10), retryMs.longest);
  track.attempts += 1;
  track.nextTryAt = now + delay;
}
