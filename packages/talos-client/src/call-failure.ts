import type { TalosErrorCode } from './talos-error.ts';

/** Why one attempt failed, before it is known which read it failed. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  readonly code: TalosErrorCode;
  /** Nothing was asked yet, and no certificate was refused: another route may be tried. */
  readonly beforeConnection: boolean;

  /** The server ran out of something (gRPC RESOURCE_EXHAUSTED): a watch is to be opened anew. */
  readonly isExhausted: boolean;

  constructor(
    code: TalosErrorCode,
    message: string,
    state: { readonly beforeConnection?: boolean; readonly isExhausted?: boolean } = {},
  ) {
    super(message);
    this.code = code;
    this.beforeConnection = state.beforeConnection ?? false;
    this.isExhausted = state.isExhausted ?? false;
  }
}

/** Text of a peer for a message: one line of printable characters, at most 200 of them. */
export function quotedText(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]+/g, ' ').trim();
  return printable.length > 200 ? `${printable.slice(0, 197)}...` : printable;
}
