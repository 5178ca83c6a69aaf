import type { ObjectChange, ObjectWatch } from '@ichor/k8s-adapter';
import type { Clock } from '../runtime/clock.ts';

/** What tells an object and its version from others. */
export interface VersionedName {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** How far behind a watch may be. */
export interface LaggingWatchSettings<T> {
  readonly source: ObjectWatch<T>;
  readonly versionOf: (object: T) => VersionedName;
  readonly clock: Pick<Clock, 'after'>;
  /** Milliseconds until a change is seen; drawn per delivery. */
  readonly lagMs: () => number;
  /** Called after each object is taken over, or with undefined after one is gone. */
  readonly seen?: (name: string, object: T | undefined) => void;
}

/**
 * A watch behind a slow connection: changes arrive late and in order, can be held back for long,
 * and after a relist only the differences are seen, as after a 410.
 */
export class LaggingWatch<T> implements ObjectWatch<T> {
  readonly #settings: LaggingWatchSettings<T>;
  readonly #objects = new Map<string, T>();
  readonly #listeners = new Set<(change: ObjectChange<T>) => void>();
  readonly #unsubscribe: () => void;
  #waiting: ObjectChange<T>[] = [];
  #synced = false;
  #held = false;
  #scheduled = false;
  #closed = false;

  constructor(settings: LaggingWatchSettings<T>) {
    this.#settings = settings;
    this.#unsubscribe = settings.source.subscribe((change) => {
      this.#waiting.push(change);
      this.#schedule();
    });
  }

  synced(): boolean {
    return this.#synced;
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  subscribe(listener: (change: ObjectChange<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True while changes are held back. */
  get held(): boolean {
    return this.#held;
  }

  /** Holds all changes back. */
  hold(): void {
    this.#held = true;
  }

  /** Lets them through: each in its order, or what a new list shows of them. */
  release(how: 'replay' | 'relist'): void {
    this.#held = false;
    if (how === 'relist' && this.#settings.source.synced()) {
      this.#waiting = [];
      this.#takeOverList();
    } else this.#schedule();
  }

  /** Tells that the list cannot be followed at present. */
  fail(message: string): void {
    this.#tell({ kind: 'failed', message });
  }

  close(): void {
    this.#closed = true;
    this.#unsubscribe();
  }

  #schedule(): void {
    if (this.#scheduled || this.#held) return;
    this.#scheduled = true;
    this.#settings.clock.after(this.#settings.lagMs(), () => {
      this.#scheduled = false;
      if (this.#held || this.#closed) return;
      const changes = this.#waiting;
      this.#waiting = [];
      for (const change of changes) this.#take(change);
    });
  }

  #take(change: ObjectChange<T>): void {
    if (change.kind === 'synced') this.#takeOverList();
    else if (change.kind === 'failed') this.#tell(change);
    else if (change.kind === 'deleted') this.#remove(this.#settings.versionOf(change.object).name);
    else this.#put(change.object);
  }

  #takeOverList(): void {
    const objects = this.#settings.source.list();
    const names = new Set(objects.map((object) => this.#settings.versionOf(object).name));
    for (const name of [...this.#objects.keys()]) if (!names.has(name)) this.#remove(name);
    for (const object of objects) this.#put(object);
    if (this.#synced) return;
    this.#synced = true;
    this.#tell({ kind: 'synced' });
  }

  #put(object: T): void {
    const { name, uid, resourceVersion } = this.#settings.versionOf(object);
    const known = this.#objects.get(name);
    const before = known === undefined ? undefined : this.#settings.versionOf(known);
    // What a list has shown already may still come as an event.
    if (before?.uid === uid && Number(before.resourceVersion) >= Number(resourceVersion)) return;
    if (before !== undefined && before.uid !== uid) this.#remove(name);
    this.#objects.set(name, object);
    this.#settings.seen?.(name, object);
    this.#tell({ kind: 'changed', object, previous: before?.uid === uid ? known : undefined });
  }

  #remove(name: string): void {
    const known = this.#objects.get(name);
    if (known === undefined) return;
    this.#objects.delete(name);
    this.#settings.seen?.(name, undefined);
    this.#tell({ kind: 'deleted', object: known });
  }

  #tell(change: ObjectChange<T>): void {
    if (this.#closed) return;
    for (const listener of [...this.#listeners]) listener(change);
  }
}
