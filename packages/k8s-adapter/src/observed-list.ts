import { type KubeObject, objectKey } from './kube-object.ts';
import type { ObjectChange, ObjectWatch } from './object-watch.ts';

interface Entry<T> {
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
  readonly #entries = new Map<string, Entry<T>>();
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

  /** Takes over a complete list: what it does not hold is gone. */
  replaceAll(objects: readonly KubeObject[]): void {
    const present = new Set(objects.map(objectKey));
    for (const key of [...this.#entries.keys()]) {
      if (!present.has(key)) this.#remove(key);
    }
    for (const object of objects) this.put(object);
    if (!this.#synced) {
      this.#synced = true;
      this.#tell({ kind: 'synced' });
    }
  }

  /** Takes over one object. One that is known in this very version changes nothing. */
  put(object: KubeObject): void {
    const key = objectKey(object);
    const { uid, resourceVersion } = object.metadata;
    const known = this.#entries.get(key);
    if (known?.uid === uid && known.resourceVersion === resourceVersion) return;
    // A name that was used again is another object: its predecessor is gone.
    if (known !== undefined && known.uid !== uid) this.#remove(key);
    const previous = known?.uid === uid ? known.object : undefined;
    const entry = { uid, resourceVersion, object: this.#translate(object) };
    this.#entries.set(key, entry);
    this.#tell({ kind: 'changed', object: entry.object, previous });
  }

  /** Forgets one object. */
  remove(object: KubeObject): void {
    this.#remove(objectKey(object));
  }

  /** Tells subscribers that the list cannot be followed at present. */
  fail(message: string): void {
    this.#tell({ kind: 'failed', message });
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
