import type { TalosAccess } from './talos-client.ts';

/** A talosconfig cannot be used: the message names the source, the field and the way out. */
export class TalosconfigError extends Error {
  override readonly name = 'TalosconfigError';
  /** The file path, or the Secret and its key. */
  readonly source: string;
  /** The field at fault, for example `contexts.lab.crt`; empty for the file as a whole. */
  readonly field: string;

  constructor(source: string, field: string, problem: string) {
    super(`${source}${field === '' ? '' : `: ${field}`}: ${problem}`);
    this.source = source;
    this.field = field;
  }
}

/** A parsed talosconfig. Its contexts are checked when one is chosen, so that a broken one harms no other. */
export interface Talosconfig {
  /** The file path, or the Secret and its key, for messages. */
  readonly source: string;
  /** Name of the current context; empty where the file names none. */
  readonly context: string;
  readonly contextNames: readonly string[];
}

/** Parses a talosconfig. @throws TalosconfigError and nothing else. */
export function parseTalosconfig(_text: string, source: string): Talosconfig {
  throw new TalosconfigError(source, '', 'cannot be parsed yet');
}

/** The access that one context gives; the current context unless named. @throws TalosconfigError and nothing else. */
export function accessOf(talosconfig: Talosconfig, _contextName?: string): TalosAccess {
  throw new TalosconfigError(talosconfig.source, '', 'cannot be used yet');
}
