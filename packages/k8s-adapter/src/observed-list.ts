import { type KubeObject, objectKey } from './kube-object.ts';
import type { ObjectChange, ObjectWatch } from './object-watch.ts';

/** One object, with what tells it and its version from others. */
export interface ListEntry<T> {
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: T;
}

/**
 * What was last seen of one list, in the form that the rest of the program uses. Whoever feeds it
 * (a reflector, an in-memory store) hands over objects as received; subscribers hear of each
 * difference once. A subscriber that throws is reported as a process warning and stays subscribed.
 */
export class ObservedList<T> implements ObjectWatch<T> {
  readonly #translate: (object: KubeObject) => T;
  readonly #listeners = new Set<(change: ObjectChange<T>) => void>();
  readonly #entries = new Map<string, ListEntry<T>>();
  #synced = false;

  /** `translate` makes of an object as received what is kept of it. It must not throw. */
  constructor(translate: (object: KubeObject) => T) {
    this.#translate = translate;
  }

  synced(): boolean {
    return this.#synced;
  }

  list(): readonly T[] {
    return Array.from(this.#entries.values(), (entry) => entry.object);
  }

  subscribe(listener: (change: ObjectChange<T>) => void): () => void {
    // A wrapper per subscription, so that one function subscribed twice can be taken out once.
    const subscription = (change: ObjectChange<T>) => listener(change);
    this.#listeners.add(subscription);
    return () => {
      this.#listeners.delete(subscription);
    };
  }

  /** What is kept of an object as received, so that a long list need not be held in full. */
  receive(object: KubeObject): ListEntry<T> {
    const { uid, resourceVersion } = object.metadata;
    return { key: objectKey(object), uid, resourceVersion, object: this.#translate(object) };
  }

  /** Takes over a complete list: what it does not hold is gone. */
  replaceAll(entries: readonly ListEntry<T>[]): void {
    const present = new Set(entries.map(({ key }) => key));
    for (const key of [...this.#entries.keys()]) {
      if (!present.has(key)) this.#remove(key);
    }
    for (const entry of entries) this.#put(entry);
    if (!this.#synced) {
      this.#synced = true;
      this.#tell({ kind: 'synced' });
    }
  }

  /** Takes over one object. One that is known in this very version changes nothing. */
  put(object: KubeObject): void {
    this.#put(this.receive(object));
  }

  /** Forgets one object. */
  remove(object: KubeObject): void {
    this.#remove(objectKey(object));
  }

  /** Tells subscribers that the list cannot be followed at present. */
  fail(message: string): void {
    this.#tell({ kind: 'failed', message });
  }

  #put(entry: ListEntry<T>): void {
    const known = this.#entries.get(entry.key);
    if (known?.uid === entry.uid && known.resourceVersion === entry.resourceVersion) return;
    // A name that was used again is another object: its predecessor is gone.
    if (known !== undefined && known.uid !== entry.uid) this.#remove(entry.key);
    const previous = known?.uid === entry.uid ? known.object : undefined;
    this.#entries.set(entry.key, entry);
    this.#tell({ kind: 'changed', object: entry.object, previous });
  }

  #remove(key: string): void {
    const known = this.#entries.get(key);
    if (known === undefined) return;
    this.#entries.delete(key);
    this.#tell({ kind: 'deleted', object: known.object });
  }

  #tell(change: ObjectChange<T>): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}
