/**
 * Why a call to a Talos node failed.
 *
 * `unreachable`: no connection. `unauthenticated`: a certificate was refused, on either side.
 * `denied`: the role of our certificate does not allow the call. `notFound`: the resource does not
 * exist, or is being torn down. `deadline`: no answer in time. `protocol`: an answer that is not
 * what Talos sends.
 */
export type TalosErrorCode =
  | 'unreachable'
  | 'unauthenticated'
  | 'denied'
  | 'notFound'
  | 'deadline'
  | 'protocol';

/** The one error of this package: what failed, against which address, and in which way. */
export class TalosError extends Error {
  override readonly name = 'TalosError';
  readonly code: TalosErrorCode;
  /** The node address that was asked, as given by the caller. */
  readonly target: string;

  constructor(code: TalosErrorCode, target: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.target = target;
  }
}
