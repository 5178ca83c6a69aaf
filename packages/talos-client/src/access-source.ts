import type { TalosAccess } from './talos-client.ts';

/** Where a client takes its endpoints and mutual TLS material from, asked anew before every read. */
export interface AccessSource {
  /**
   * The material to use now.
   *
   * @throws TalosconfigError where there is none that could be used.
   */
  current(): Promise<TalosAccess>;
}

/** Material that never changes, for example out of a Secret that was just read. */
export function fixedAccess(access: TalosAccess): AccessSource {
  return { current: () => Promise.resolve(access) };
}
