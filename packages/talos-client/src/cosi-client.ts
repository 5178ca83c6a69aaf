import type { Resource } from './resource.ts';

/** What a watch tells. */
export type ResourceEvent =
  | { readonly kind: 'created' | 'updated'; readonly resource: Resource }
  /** It is gone; for a single id that did not exist when the watch began, the first event. */
  | { readonly kind: 'destroyed'; readonly id: string }
  /** Of a watch on a whole type: everything that existed has been told. */
  | { readonly kind: 'bootstrapped' }
  /** The server dropped the watch and it was opened anew: what was told before may be out of date. */
  | { readonly kind: 'reopened' };

/** Which node to ask: an IP address or a host name, as in the inventory. */
export interface ResourceTarget {
  readonly address: string;
}

/** Which Talos a node runs. */
export interface TalosVersion {
  /** For example `v1.14.1`. */
  readonly tag: string;
  /** For example `metal`; empty where the node does not say. */
  readonly platform: string;
}

/**
 * Reads any resource of a node's Talos state (COSI). Same routes, deadlines and errors as
 * `TalosClient`. Messages up to 32 MiB.
 */
export interface CosiClient {
  /** @throws TalosError; `notFound` where it does not exist. One that is being torn down is given. */
  readResource(
    target: ResourceTarget,
    namespace: string,
    type: string,
    id: string,
  ): Promise<Resource>;
  /** Every resource of a type; at most 16,384 of them and 64 MiB. @throws TalosError */
  listResources(
    target: ResourceTarget,
    namespace: string,
    type: string,
  ): Promise<readonly Resource[]>;
  /**
   * Follows one resource, or every resource of a type where `id` is undefined.
   *
   * Opens the watch anew where the server drops it, or is silent for ten minutes. Ends when the
   * signal aborts. @throws TalosError where it cannot be opened or the connection breaks.
   */
  watchResource(
    target: ResourceTarget,
    namespace: string,
    type: string,
    id: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<ResourceEvent>;
  /** Asks which Talos runs there. @throws TalosError */
  readVersion(target: ResourceTarget): Promise<TalosVersion>;
}
