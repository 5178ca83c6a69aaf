import type { AccessSource } from './access-source.ts';
import { TalosconfigError } from './talosconfig.ts';

/** Settings of a talosconfig file source. */
export interface TalosconfigFileOptions {
  /** Context to use; default: the file's current one. */
  readonly contextName?: string;
  /** Clock for the expiry of the client certificate. */
  readonly now?: () => Date;
}

/** Access from a talosconfig file that is read again whenever it changed. */
export function talosconfigFile(path: string, _options: TalosconfigFileOptions = {}): AccessSource {
  return { current: () => Promise.reject(new TalosconfigError(path, '', 'cannot be read yet')) };
}
