import { KubeError, type KubeErrorCode } from './kube-error.ts';
import { isRecord } from './kube-object.ts';

/** An answer that is no success. Header names in lower case. */
export interface FailedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

const wayOut: Record<KubeErrorCode, string> = {
  conflict: 'the object has changed meanwhile, read it again',
  exists: 'the name is taken',
  notFound: 'check that it exists',
  gone: 'list again',
  forbidden: 'check the RBAC rules and the credentials of the user that this program runs as',
  invalid: 'the API server does not accept the request',
  unavailable: 'it will be tried again',
};

/**
 * The KubeError for an answer of the API server. `what` says what was tried, as the beginning of a
 * sentence: `Reading Secret a/b`.
 */
export function failureOf(what: string, answer: FailedAnswer): KubeError {
  const status = parseStatus(answer.body);
  const code = codeOf(answer.status, status.reason);
  const told = status.message === '' ? '' : `: ${oneLine(status.message)}`;
  const retryAfterMs = retryAfter(answer.headers);
  return new KubeError(
    code,
    `${what} failed with HTTP ${answer.status}${told}; ${wayOut[code]}.`,
    retryAfterMs === undefined
      ? { status: answer.status }
      : { status: answer.status, retryAfterMs },
  );
}

/** Milliseconds of a `Retry-After` header in seconds, the only form that API servers send. */
export function retryAfter(headers: FailedAnswer['headers']): number | undefined {
  const value = headers['retry-after'];
  if (typeof value !== 'string' || !/^\s*[0-9]{1,6}\s*$/.test(value)) return undefined;
  return Number(value) * 1000;
}

/** Text on one line, without control characters, at most 300 characters. */
export function oneLine(text: string): string {
  const flat = text
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.;]+$/, '');
  return flat.length <= 300 ? flat : `${flat.slice(0, 299)}…`;
}

/** Code for an HTTP status; only 409 has two meanings, told apart by the reason of the Status object. */
export function codeOf(status: number, reason: string): KubeErrorCode {
  switch (status) {
    case 401:
    case 403:
      return 'forbidden';
    case 404:
      return 'notFound';
    case 409:
      return reason === 'AlreadyExists' ? 'exists' : 'conflict';
    case 410:
      return 'gone';
    case 408:
    case 429:
      return 'unavailable';
    default:
      return status >= 400 && status < 500 ? 'invalid' : 'unavailable';
  }
}

function parseStatus(body: string): { readonly reason: string; readonly message: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { reason: '', message: body };
  }
  if (!isRecord(parsed)) return { reason: '', message: '' };
  const { reason, message } = parsed;
  return {
    reason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' ? message : '',
  };
}
