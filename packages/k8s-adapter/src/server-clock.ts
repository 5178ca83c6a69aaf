/**
 * The clock of an API server, learned from the `Date` header of its answers (RFC 9110 section
 * 6.6.1) and carried on by a clock of our own that only grows, so that a wrong or stepping local
 * clock does not matter.
 *
 * A header of value D, received between `sentAt` and `receivedAt`, says that the server's clock was
 * within [D, D + 1 s) at some moment between the two. Each answer is such an interval of offsets;
 * intervals that agree narrow each other, one that disagrees (a stepped or another server's clock)
 * starts afresh.
 */
export class ServerClock {
  readonly #now: () => number;
  #earliest = Number.NEGATIVE_INFINITY;
  #latest = Number.POSITIVE_INFINITY;

  /** `now`: milliseconds that only grow, from any origin. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Learns from one answer; a header that is absent or no date teaches nothing. */
  observe(dateHeader: string | undefined, sentAt: number, receivedAt: number): void {
    const date = Date.parse(dateHeader ?? '');
    if (Number.isNaN(date)) return;
    const earliest = Math.max(this.#earliest, date - receivedAt);
    const latest = Math.min(this.#latest, date + 1000 - sentAt);
    if (earliest <= latest) {
      this.#earliest = earliest;
      this.#latest = latest;
    } else {
      this.#earliest = date - receivedAt;
      this.#latest = date + 1000 - sentAt;
    }
  }

  /** Milliseconds since the epoch; undefined before the first answer. */
  time(): number | undefined {
    if (this.#latest === Number.POSITIVE_INFINITY) return undefined;
    return this.#now() + (this.#earliest + this.#latest) / 2;
  }
}
