/**
 * Why a call to an API server failed.
 *
 * `conflict`: the resource version is not current (409). `exists`: a create found its name taken.
 * `notFound`: 404. `gone`: 410, the resource version is too old. `forbidden`: 401 or 403.
 * `invalid`: the server refuses the object (400, 422). `unavailable`: no connection, a timeout,
 * 429 or 5xx.
 */
export type KubeErrorCode =
  | 'conflict'
  | 'exists'
  | 'notFound'
  | 'gone'
  | 'forbidden'
  | 'invalid'
  | 'unavailable';

/** The one error of this package. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly code: KubeErrorCode;
  /** HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** Milliseconds that the server asked to wait (`Retry-After`), where it did. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: KubeErrorCode,
    message: string,
    details: { status?: number; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}
