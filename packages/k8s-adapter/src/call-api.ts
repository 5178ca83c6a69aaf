import { ApiException } from '@kubernetes/client-node';
import { failureOf } from './api-failure.ts';
import { KubeError } from './kube-error.ts';

/**
 * Calls client-node's typed API and turns what it throws into a KubeError. `what` says what is
 * tried, as the beginning of a sentence.
 */
export async function callApi<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof KubeError) throw toldAs(what, error);
    if (error instanceof ApiException) {
      const body = typeof error.body === 'string' ? error.body : JSON.stringify(error.body);
      throw failureOf(what, { status: error.code, headers: error.headers, body: body ?? '' });
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new KubeError('unavailable', `${what} failed: ${reason}.`, { cause: error });
  }
}

/** What the transport throws names the method and the path; people are told what was tried. */
function toldAs(what: string, error: KubeError): KubeError {
  if (error.message.startsWith(what)) return error;
  const details = {
    cause: error,
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  };
  return new KubeError(error.code, `${what} failed: ${error.message}`, details);
}
