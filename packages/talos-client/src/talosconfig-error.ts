/** A talosconfig cannot be used: the message names the source, the field and the way out. */
export class TalosconfigError extends Error {
  override readonly name = 'TalosconfigError';
  /** The file path, or the Secret and its key. */
  readonly source: string;
  /** The field at fault, for example `contexts.lab.crt`; empty for the file as a whole. */
  readonly field: string;

  constructor(source: string, field: string, problem: string) {
    super(field === '' ? `${source} ${problem}` : `${source}: ${field} ${problem}`);
    this.source = source;
    this.field = field;
  }
}
