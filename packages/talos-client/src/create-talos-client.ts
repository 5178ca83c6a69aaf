import type { AccessSource } from './access-source.ts';
import type { TalosClient } from './talos-client.ts';
import { TalosError } from './talos-error.ts';

/** Settings of a client; times in milliseconds. */
export interface TalosClientOptions {
  readonly access: AccessSource;
  /** Port of the Talos API where an address names none. Default 50000. */
  readonly port?: number;
  /** Bound of one whole read, all routes and resources together. Default 5000. */
  readonly deadlineMs?: number;
  /** Bound of one attempt to connect. Default 1500. */
  readonly directConnectMs?: number;
  /** Most connections open at a time. Default 256. */
  readonly maxConnections?: number;
}

/** A client for the nodes of one cluster. */
export function createTalosClient(_options: TalosClientOptions): TalosClient {
  return {
    readNodeFacts: (target) =>
      Promise.reject(new TalosError('unreachable', target.address, 'not connected yet')),
    close: () => {},
  };
}
