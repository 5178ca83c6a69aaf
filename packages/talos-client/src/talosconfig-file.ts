import type { BigIntStats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { AccessSource } from './access-source.ts';
import type { TalosAccess } from './talos-client.ts';
import { accessOf, parseTalosconfig, type Talosconfig } from './talosconfig.ts';
import { TalosconfigError } from './talosconfig-error.ts';

/** Settings of a talosconfig file source. */
export interface TalosconfigFileOptions {
  /** Context to use; default: the file's current one. */
  readonly contextName?: string;
  /** Clock for the validity of the client certificate. Default: the system's. */
  readonly now?: () => Date;
}

const identityOf = (file: BigIntStats) =>
  `${file.dev}:${file.ino}:${file.size}:${file.mtimeNs}:${file.ctimeNs}`;

/**
 * Access from a talosconfig file that is read again whenever it changed: credentials that Talos
 * hands into a cluster live for six hours, and a mounted Secret is replaced by swapping a symbolic
 * link.
 *
 * A file that can no longer be used fails every read with a `TalosconfigError` until it is mended.
 * What was read before is not used on: it would hide that somebody withdrew it.
 */
export function talosconfigFile(path: string, options: TalosconfigFileOptions = {}): AccessSource {
  const now = options.now ?? (() => new Date());
  let held: { readonly identity: string; readonly talosconfig: Talosconfig } | undefined;

  return {
    async current(): Promise<TalosAccess> {
      let talosconfig: Talosconfig;
      try {
        // Looked at before it is read: a change in between shows as a change the next time.
        const identity = identityOf(await stat(path, { bigint: true }));
        talosconfig =
          held?.identity === identity
            ? held.talosconfig
            : parseTalosconfig(await readFile(path, 'utf8'), path);
        held = { identity, talosconfig };
      } catch (error) {
        held = undefined;
        throw error instanceof TalosconfigError ? error : unreadable(path, error);
      }
      // Checked every time, because a file that does not change expires too.
      return accessOf(talosconfig, options.contextName, now());
    },
  };
}

function unreadable(path: string, error: unknown): TalosconfigError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const problem =
    code === 'ENOENT'
      ? 'does not exist; give the path of a talosconfig, or grant the pod access to the Talos API'
      : `cannot be read (${code}); check its permissions`;
  return new TalosconfigError(path, '', problem);
}
