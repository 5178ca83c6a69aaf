/**
 * A live, read-only view of one list: what a reflector holds. It never ends by itself; whatever
 * breaks is retried, and what was last seen stays readable meanwhile.
 */
export interface ObjectWatch<T> {
  /** True once one complete list has been taken over. */
  synced(): boolean;
  /** The objects last seen, in no particular order. Do not modify them. */
  list(): readonly T[];
  /**
   * Calls `listener` after every change and once when the first list is complete.
   * Returns the function that ends the subscription.
   */
  subscribe(listener: (change: ObjectChange<T>) => void): () => void;
}

/** What changed. `synced` follows the first complete list; `failed` carries a sentence for people. */
export type ObjectChange<T> =
  | { readonly kind: 'synced' }
  | { readonly kind: 'changed'; readonly object: T; readonly previous: T | undefined }
  | { readonly kind: 'deleted'; readonly object: T }
  | { readonly kind: 'failed'; readonly message: string };
