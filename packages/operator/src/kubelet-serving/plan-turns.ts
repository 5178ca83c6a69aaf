/** Decisions of machines' own users that run at the same time. */
export const ownSlots = 30;
/** Of these, so many may go to machines that did not answer when last asked. */
export const doubtfulSlots = 15;
/** Decisions of all other users that run at the same time. */
export const otherSlots = 2;
/** So long a user that was served waits behind those that were not, in milliseconds. */
export const repeatMs = 5_000;
/** So long a decision that is on its way holds up the users that come again, in milliseconds. */
export const patienceMs = 1_000;

/** An undecided request that may be decided now. */
export interface WaitingRequest {
  readonly uid: string;
  /** `spec.username`, authenticated by the API server. */
  readonly user: string;
  /** True where the user is the own user of a managed machine. */
  readonly own: boolean;
  /** True where its machine did not answer when last asked, so that it may hold its slot for long. */
  readonly doubtful: boolean;
  /** Milliseconds since the epoch; the API server's creation time, then when it was seen. */
  readonly createdAt: number;
  readonly firstSeenAt: number;
}

/** A decision that is on its way. */
export interface RunningDecision {
  readonly user: string;
  readonly own: boolean;
  readonly doubtful: boolean;
  /** False where its user was served a moment before. */
  readonly firstTurn: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Generation of the TalosCluster that it was started under. */
  readonly generation: number;
}

/** What taking turns looks at. */
export interface TurnSnapshot {
  readonly now: number;
  readonly waiting: readonly WaitingRequest[];
  readonly running: readonly RunningDecision[];
  /** When each user was last served, in milliseconds since the epoch. */
  readonly servedAt: ReadonlyMap<string, number>;
}

/**
 * Which requests are decided next.
 *
 * Users take turns: one decision per user at a time, and a user that was served a moment ago waits
 * until no other one is waiting or, for a second, on its way. So a flood of requests delays only
 * its own user. Machines' own users come before everybody else, who may write any name into a
 * request. A decision that takes long, because a node does not answer, holds up nobody.
 *
 * @returns uids, and when to look again in milliseconds, where time alone changes the answer
 */
export function planTurns(snapshot: TurnSnapshot): {
  readonly start: readonly string[];
  readonly againInMs: number | undefined;
} {
  const { now, running, servedAt } = snapshot;
  const first = firstPerUser(snapshot);
  const own = first.filter((request) => request.own);
  const isFirstTurn = ({ user }: WaitingRequest) => !isRepeat(servedAt.get(user), now);
  // A silent machine may take long, so that it is nobody whom others let go first.
  const hurried = running.filter(
    (decision) =>
      decision.own &&
      decision.firstTurn &&
      !decision.doubtful &&
      now - decision.startedAt < patienceMs,
  );
  const goFirst = own.some((request) => isFirstTurn(request) && !request.doubtful);
  const othersMayRun = !goFirst && hurried.length === 0;
  const candidates = othersMayRun
    ? [...own.filter(isFirstTurn), ...own.filter((request) => !isFirstTurn(request))]
    : own.filter(isFirstTurn);
  const start = withinSlots(candidates, running);
  if (othersMayRun) {
    const room = otherSlots - running.filter((decision) => !decision.own).length;
    start.push(...first.filter((request) => !request.own).slice(0, Math.max(0, room)));
  }
  const held = first.length > start.length && hurried.length > 0;
  return {
    start: start.map(({ uid }) => uid),
    againInMs: held
      ? Math.max(1, Math.min(...hurried.map(({ startedAt }) => startedAt + patienceMs - now)))
      : undefined,
  };
}

/** As many of the requests as there are slots for, without leaving them all to silent machines. */
function withinSlots(
  requests: readonly WaitingRequest[],
  running: readonly RunningDecision[],
): WaitingRequest[] {
  const busy = running.filter(({ own }) => own);
  let room = ownSlots - busy.length;
  let doubtfulRoom = doubtfulSlots - busy.filter(({ doubtful }) => doubtful).length;
  return requests.filter(({ doubtful }) => {
    if (room <= 0 || (doubtful && doubtfulRoom <= 0)) return false;
    room -= 1;
    if (doubtful) doubtfulRoom -= 1;
    return true;
  });
}

/** True where a user that was served then, if ever, comes again too soon to go first. */
export function isRepeat(servedAt: number | undefined, now: number): boolean {
  return servedAt !== undefined && now - servedAt < repeatMs;
}

/** Each user's next request, the users that were served longest ago first. */
function firstPerUser({ waiting, running, servedAt }: TurnSnapshot): WaitingRequest[] {
  const busy = new Set(running.map(({ user }) => user));
  const first = new Map<string, WaitingRequest>();
  for (const request of [...waiting].sort(byAge)) {
    if (!busy.has(request.user) && !first.has(request.user)) first.set(request.user, request);
  }
  const last = ({ user }: WaitingRequest) => servedAt.get(user) ?? 0;
  return [...first.values()].sort((a, b) => last(a) - last(b) || byAge(a, b));
}

function byAge(a: WaitingRequest, b: WaitingRequest): number {
  return a.createdAt - b.createdAt || a.firstSeenAt - b.firstSeenAt || (a.uid < b.uid ? -1 : 1);
}
