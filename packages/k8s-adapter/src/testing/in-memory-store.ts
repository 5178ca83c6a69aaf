import { randomUUID } from 'node:crypto';
import { KubeError } from '../kube-error.ts';
import type { KubeObject } from '../kube-object.ts';
import { ObservedList } from '../observed-list.ts';

/** A change of one stored object, in the order of its resource version. */
type StoreChange =
  | { readonly kind: 'put'; readonly object: KubeObject }
  | { readonly kind: 'deleted'; readonly object: KubeObject };

/** Counts resource versions, over all collections as one etcd does. */
export interface VersionCounter {
  next(): string;
}

/** A counter that begins at 1. */
export function versionCounter(): VersionCounter {
  let last = 0;
  return { next: () => String(++last) };
}

interface Observer {
  deliver(change: StoreChange): void;
  fail(message: string): void;
  readonly pending: StoreChange[];
  scheduled: boolean;
}

/**
 * One collection of objects as an API server holds it: every object has a uid and a resource
 * version, a write can be conditional, and those who watch hear of it later, never during the write.
 */
export class InMemoryCollection {
  readonly #objects = new Map<string, KubeObject>();
  readonly #observers = new Set<Observer>();
  readonly #kind: string;
  readonly #versions: VersionCounter;
  readonly #now: () => number;
  #held = false;

  /** `now` in milliseconds since the epoch stamps `creationTimestamp`. */
  constructor(kind: string, versions: VersionCounter, now: () => number) {
    this.#kind = kind;
    this.#versions = versions;
    this.#now = now;
  }

  /** Stores a new object. @throws KubeError `exists` where the name is taken. */
  create(
    name: string,
    rest: Record<string, unknown>,
    metadata: Record<string, unknown> = {},
  ): KubeObject {
    if (this.#objects.has(name)) {
      throw new KubeError('exists', `${this.#kind} ${name} exists already.`, { status: 409 });
    }
    return this.#store({
      ...structuredClone(rest),
      metadata: {
        ...metadata,
        name,
        uid: randomUUID(),
        creationTimestamp: `${new Date(this.#now()).toISOString().slice(0, 19)}Z`,
        resourceVersion: '',
      },
    });
  }

  /** The object of this name. @throws KubeError `notFound`. */
  get(name: string): KubeObject {
    const object = this.#objects.get(name);
    if (object === undefined) {
      throw new KubeError('notFound', `${this.#kind} ${name} does not exist.`, { status: 404 });
    }
    return object;
  }

  /** True where an object has this name. */
  has(name: string): boolean {
    return this.#objects.has(name);
  }

  /** All objects, oldest first. */
  all(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  /**
   * Replaces an object by what `change` makes of it; uid and name stay. A result that equals what
   * is stored is no write: the resource version stays, and nobody hears of it.
   */
  update(name: string, change: (object: KubeObject) => KubeObject): KubeObject {
    const before = this.get(name);
    const after = structuredClone(change(before));
    if (JSON.stringify(after) === JSON.stringify(before)) return before;
    return this.#store({
      ...after,
      metadata: { ...after.metadata, name, uid: before.metadata.uid },
    });
  }

  /** Raises the resource version, as another writer's metadata change would. */
  touch(name: string): KubeObject {
    return this.#store(structuredClone(this.get(name)));
  }

  /** Deletes an object. @throws KubeError `notFound`. */
  delete(name: string): void {
    const object = this.get(name);
    this.#objects.delete(name);
    const metadata = { ...object.metadata, resourceVersion: this.#versions.next() };
    this.#announce({ kind: 'deleted', object: { ...object, metadata } });
  }

  /** A list that follows this collection until `close`. */
  observe<T>(
    translate: (object: KubeObject) => T,
    accepts: (object: KubeObject) => boolean = () => true,
  ): { readonly list: ObservedList<T>; close(): void } {
    const list = new ObservedList(translate);
    const observer: Observer = {
      deliver: (change) => {
        if (change.kind === 'deleted') list.remove(change.object);
        else if (accepts(change.object)) list.put(change.object);
      },
      fail: (message) => list.fail(message),
      pending: [],
      scheduled: false,
    };
    let open = true;
    queueMicrotask(() => {
      if (!open) return;
      list.replaceAll(
        this.all()
          .filter(accepts)
          .map((object) => list.receive(object)),
      );
      this.#observers.add(observer);
    });
    return {
      list,
      close: () => {
        open = false;
        this.#observers.delete(observer);
      },
    };
  }

  /** While held, changes reach nobody: those who watch see the past. Released, all arrive in order. */
  hold(held: boolean): void {
    this.#held = held;
    if (!held) for (const observer of this.#observers) this.#schedule(observer);
  }

  /** Tells those who watch that they cannot follow at present. */
  fail(message: string): void {
    for (const observer of this.#observers) observer.fail(message);
  }

  #store(object: KubeObject): KubeObject {
    const stored: KubeObject = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: this.#versions.next() },
    };
    this.#objects.set(stored.metadata.name, stored);
    this.#announce({ kind: 'put', object: stored });
    return stored;
  }

  #announce(change: StoreChange): void {
    for (const observer of this.#observers) {
      observer.pending.push(change);
      if (!this.#held) this.#schedule(observer);
    }
  }

  #schedule(observer: Observer): void {
    if (observer.scheduled) return;
    observer.scheduled = true;
    queueMicrotask(() => {
      observer.scheduled = false;
      while (!this.#held) {
        const change = observer.pending.shift();
        if (change === undefined) return;
        observer.deliver(change);
      }
    });
  }
}
