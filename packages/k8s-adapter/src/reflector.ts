import { setTimeout as sleep } from 'node:timers/promises';
import { oneLine } from './api-failure.ts';
import { backOff } from './back-off.ts';
import type { KubeConnection } from './connection.ts';
import { AnswerTooLarge } from './http-transport.ts';
import { KubeError } from './kube-error.ts';
import { isKubeObject, isRecord, type KubeObject } from './kube-object.ts';
import { LineTooLong, readLines } from './line-stream.ts';
import type { ObjectWatch } from './object-watch.ts';
import { type ListEntry, ObservedList } from './observed-list.ts';
import { parseWatchEvent } from './watch-event.ts';

/** What time and chance are to a reflector; every part has a default, and tests replace them. */
export interface ReflectorTiming {
  /** In [0, 1). */
  readonly random: () => number;
  /** Waits; ends early, rejecting or not, when the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** How long a watch is asked to last, in seconds: a random value between the two. */
  readonly watchSeconds: readonly [least: number, most: number];
  /** Milliseconds without a byte, above what the watch is asked to last, before it is given up. */
  readonly idleSlackMs: number;
  readonly firstBackOffMs: number;
  readonly longestBackOffMs: number;
  /** A watch that lived this long counts as a success although it said nothing. */
  readonly steadyMs: number;
}

/** One collection to follow. */
export interface ReflectorSource<T> {
  readonly connection: KubeConnection;
  /** Path of the collection. */
  readonly path: string;
  readonly fieldSelector?: string;
  /** Plural of what is followed, for messages. */
  readonly what: string;
  /** What is kept of an object as received; must not throw. */
  readonly translate: (object: KubeObject) => T;
  readonly timing?: Partial<ReflectorTiming>;
}

/** A running reflector. */
export interface Reflector<T> {
  readonly list: ObjectWatch<T>;
  close(): void;
}

const pageSize = 500;
const setbacksBeforeList = 3;
/** An object is at most about 1.5 MiB in etcd; its JSON in a watch line stays well below this. */
const longestLine = 16 * 1024 * 1024;

const defaults: ReflectorTiming = {
  random: Math.random,
  wait: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
  watchSeconds: [290, 580],
  idleSlackMs: 15_000,
  firstBackOffMs: 1_000,
  longestBackOffMs: 30_000,
  steadyMs: 10_000,
};

/**
 * Follows a collection by list and watch until it is closed: whatever fails is reported to
 * subscribers and tried again after a growing, jittered pause.
 * (client-go `tools/cache/reflector.go` describes the protocol)
 */
export function openReflector<T>(source: ReflectorSource<T>): Reflector<T> {
  const run = new Run(source);
  void run.forever();
  return { list: run.list, close: () => run.close() };
}

/** Why a watch ended without being broken. */
type WatchEnd = 'ended' | 'expired';

class Run<T> {
  readonly list: ObservedList<T>;
  readonly #source: ReflectorSource<T>;
  readonly #timing: ReflectorTiming;
  readonly #closed = new AbortController();
  /** Undefined: a list is needed. */
  #resourceVersion: string | undefined;
  #setbacks = 0;
  #pageSize = pageSize;

  constructor(source: ReflectorSource<T>) {
    this.#source = source;
    this.#timing = { ...defaults, ...source.timing };
    this.list = new ObservedList(source.translate);
  }

  close(): void {
    this.#closed.abort();
  }

  async forever(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      let asked = 0;
      try {
        await this.#listThenWatch();
      } catch (error) {
        if (signal.aborted) return;
        this.#setbacks += 1;
        asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
        this.list.fail(this.#sentence(error));
        // A resource version from before a restored backup never works: look afresh now and then.
        if (this.#setbacks % setbacksBeforeList === 0) this.#resourceVersion = undefined;
      }
      const { firstBackOffMs, longestBackOffMs, random } = this.#timing;
      const pause = backOff(this.#setbacks, firstBackOffMs, longestBackOffMs, random());
      if (pause + asked > 0) await this.#timing.wait(pause + asked, signal).catch(() => undefined);
    }
  }

  async #listThenWatch(): Promise<void> {
    if (this.#resourceVersion === undefined) {
      const { entries, resourceVersion } = await this.#listAll();
      if (this.#closed.signal.aborted) return;
      this.list.replaceAll(entries);
      this.#resourceVersion = resourceVersion;
    }
    const begun = performance.now();
    const before = this.#resourceVersion;
    let end: WatchEnd;
    try {
      end = await this.#watch();
    } catch (error) {
      if (this.#progressed(before, begun)) this.#setbacks = 0;
      throw error;
    }
    // A server that ends each watch at once must not be asked again at once for ever.
    this.#setbacks = this.#progressed(before, begun) ? 0 : this.#setbacks + 1;
    if (end === 'expired') this.#resourceVersion = undefined;
  }

  /** Whether a watch from this version, begun then, was of use: what went wrong before it is over. */
  #progressed(before: string, begun: number): boolean {
    const hasMoved = this.#resourceVersion !== undefined && this.#resourceVersion !== before;
    return hasMoved || performance.now() - begun >= this.#timing.steadyMs;
  }

  async #listAll(): Promise<{ entries: ListEntry<T>[]; resourceVersion: string }> {
    const entries: ListEntry<T>[] = [];
    this.#pageSize = pageSize;
    let next: string | undefined;
    for (;;) {
      const page = await this.#listPage(next);
      for (const object of page.objects) entries.push(this.list.receive(object));
      if (page.next === undefined) return { entries, resourceVersion: page.resourceVersion };
      next = page.next;
    }
  }

  async #listPage(next: string | undefined): Promise<ListPage> {
    const query = this.#query({ limit: String(this.#pageSize), continue: next });
    const what = `Listing ${this.#source.what}`;
    try {
      const answer = await this.#source.connection.request({
        method: 'GET',
        path: `${this.#source.path}?${query}`,
        what,
      });
      return parseList(answer.body, what);
    } catch (error) {
      // Anybody who may create objects can make them large: take fewer at a time.
      if (error instanceof AnswerTooLarge && this.#pageSize > 1) {
        this.#pageSize = Math.max(1, Math.floor(this.#pageSize / 8));
        return this.#listPage(next);
      }
      throw error;
    }
  }

  async #watch(): Promise<WatchEnd> {
    const { random, watchSeconds, idleSlackMs } = this.#timing;
    const [least, most] = watchSeconds;
    const seconds = Math.round(least + (most - least) * random());
    const query = this.#query({
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
      resourceVersion: this.#resourceVersion,
    });
    const ended = new AbortController();
    const end = () => ended.abort();
    this.#closed.signal.addEventListener('abort', end, { once: true });
    let silent = false;
    const idle = setTimeout(
      () => {
        silent = true;
        end();
      },
      seconds * 1000 + idleSlackMs,
    );
    try {
      const stream = await this.#source.connection.stream(
        `${this.#source.path}?${query}`,
        `Watching ${this.#source.what}`,
        ended.signal,
      );
      for await (const line of readLines(stream, longestLine)) {
        idle.refresh();
        if (this.#take(line) === 'expired') return 'expired';
      }
      return 'ended';
    } catch (error) {
      if (silent) throw new Error('it has been silent for too long');
      if (error instanceof KubeError && error.code === 'gone') return 'expired';
      // The same line would come again.
      if (error instanceof LineTooLong) this.#resourceVersion = undefined;
      throw error;
    } finally {
      clearTimeout(idle);
      this.#closed.signal.removeEventListener('abort', end);
      end();
    }
  }

  #take(line: string): WatchEnd | undefined {
    const event = parseWatchEvent(line);
    switch (event.kind) {
      case 'put':
        this.list.put(event.object);
        this.#resourceVersion = event.object.metadata.resourceVersion;
        return undefined;
      case 'deleted':
        this.list.remove(event.object);
        this.#resourceVersion = event.object.metadata.resourceVersion;
        return undefined;
      case 'bookmark':
        this.#resourceVersion = event.resourceVersion;
        return undefined;
      case 'error':
        if (event.status === 410) return 'expired';
        throw new Error(`the server says: ${event.message}`);
      case 'broken':
        // Whatever the line was about is lost to a watch; a list will show it.
        this.#resourceVersion = undefined;
        throw new Error(event.problem);
    }
  }

  #query(parameters: Readonly<Record<string, string | undefined>>): URLSearchParams {
    const query = new URLSearchParams();
    const { fieldSelector } = this.#source;
    for (const [name, value] of Object.entries({ fieldSelector, ...parameters })) {
      if (value !== undefined) query.set(name, value);
    }
    return query;
  }

  #sentence(error: unknown): string {
    if (error instanceof KubeError) return error.message;
    const isCut = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
    const told = error instanceof Error ? error.message : String(error);
    // Node calls this "aborted", which says nothing about who did.
    const reason = isCut ? 'the connection was cut' : told;
    return `The watch of ${this.#source.what} at ${this.#source.connection.server} broke: ${oneLine(reason)}; it will be opened again.`;
  }
}

interface ListPage {
  readonly objects: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Token of the page after this one. */
  readonly next: string | undefined;
}

function parseList(body: string, what: string): ListPage {
  let list: unknown;
  try {
    list = JSON.parse(body);
  } catch {
    list = undefined;
  }
  const metadata = isRecord(list) ? list['metadata'] : undefined;
  if (!isRecord(list) || !isRecord(metadata) || typeof metadata['resourceVersion'] !== 'string') {
    throw new KubeError(
      'unavailable',
      `${what} failed: the answer is no list; it will be tried again.`,
    );
  }
  const items = Array.isArray(list['items']) ? list['items'] : [];
  const next = metadata['continue'];
  return {
    objects: items.filter(isKubeObject),
    resourceVersion: metadata['resourceVersion'],
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}
