import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import { failureOf, oneLine, retryAfter } from './api-failure.ts';
import { fullJitter } from './back-off.ts';
import type { Credentials } from './credentials.ts';
import { KubeError } from './kube-error.ts';
import { type RateLimit, tokenBucket } from './rate-limit.ts';
import { ServerClock } from './server-clock.ts';

/** Limits of a connection; the defaults suit an operator. */
export interface ConnectionSettings {
  /** Kept connections at most, watches not counted; 6. */
  readonly connections?: number;
  /** One request, from sending to the last byte of the answer; 30,000. */
  readonly requestTimeoutMs?: number;
  /** Requests a second, repeats counted; 50. */
  readonly requestsPerSecond?: number;
  /** Requests that may go out at once before that rate applies; 100. */
  readonly burst?: number;
  /** Tries of one request at most; 4. */
  readonly attempts?: number;
  /** Largest answer in bytes; 16 MiB. Lists are then taken in smaller pages. */
  readonly maxAnswerBytes?: number;
  /** Waits between tries, milliseconds; for tests. */
  readonly wait?: (milliseconds: number) => Promise<void>;
  /** In [0, 1); for tests. */
  readonly random?: () => number;
}

/** One request. `path` begins with a slash and may carry a query. */
export interface ApiRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** What is tried, for errors, as the beginning of a sentence: `Reading Secret a/b`. */
  readonly what: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer of any status. */
export interface ApiAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An answer that is larger than `maxAnswerBytes`. */
export class AnswerTooLarge extends KubeError {}

const idleConnectionMs = 60_000;
const firstRetryMs = 250;
const longestRetryMs = 5_000;
/** A server that asks for a longer pause than this is asked again by the caller, not here. */
const longestRetryAfterMs = 30_000;
const keepAliveProbeMs = 30_000;

/**
 * HTTP/1.1 to one API server over a small pool of kept connections: deadlines, a rate limit, repeats
 * of what may be repeated, and the server's clock. client-node's own transport makes a TLS
 * connection for every request.
 */
export class HttpTransport {
  readonly clock = new ServerClock();
  readonly #server: URL;
  readonly #credentials: () => Promise<Credentials>;
  readonly #agent: HttpAgent;
  readonly #limit: RateLimit;
  readonly #settings: Required<ConnectionSettings>;
  #closed = false;

  /** `server` may have a path, which every request path is put behind. */
  constructor(
    server: string,
    credentials: () => Promise<Credentials>,
    settings: ConnectionSettings = {},
  ) {
    this.#server = new URL(server);
    this.#credentials = credentials;
    this.#settings = {
      connections: settings.connections ?? 6,
      requestTimeoutMs: settings.requestTimeoutMs ?? 30_000,
      requestsPerSecond: settings.requestsPerSecond ?? 50,
      burst: settings.burst ?? 100,
      attempts: settings.attempts ?? 4,
      maxAnswerBytes: settings.maxAnswerBytes ?? 16 * 1024 * 1024,
      wait: settings.wait ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms))),
      random: settings.random ?? Math.random,
    };
    // The agent keeps connections apart by TLS material, so replaced credentials get new ones.
    const options = {
      keepAlive: true,
      keepAliveMsecs: keepAliveProbeMs,
      maxSockets: this.#settings.connections,
      timeout: idleConnectionMs,
      scheduling: 'lifo' as const,
    };
    this.#agent = this.#isTls() ? new HttpsAgent(options) : new HttpAgent(options);
    this.#limit = tokenBucket(this.#settings.requestsPerSecond, this.#settings.burst);
  }

  /**
   * Sends a request and returns whatever the server answers. Repeats it after a failure that a
   * repeat cannot harm: reads always, writes where the server says that it did not begin (429, 503
   * with `Retry-After`) or where a kept connection turned out to be closed.
   * @throws KubeError `unavailable` without an answer; AnswerTooLarge
   */
  async send(request: ApiRequest): Promise<ApiAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#limit.take();
      const outcome = await this.#tryOnce(request);
      const pause = this.#pause(request, outcome, attempt);
      if (pause === undefined) {
        if (outcome.kind === 'answer') return outcome.answer;
        throw this.#unavailable(request.what, outcome.error);
      }
      await this.#settings.wait(pause);
    }
  }

  /**
   * Opens a stream on a connection of its own, so that watches never hold the pool.
   * @throws KubeError for any status but 200, and `unavailable` without an answer
   */
  async openStream(path: string, what: string, signal: AbortSignal): Promise<IncomingMessage> {
    await this.#limit.take();
    const deadline = this.#deadline();
    const abort = () => deadline.controller.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    let response: IncomingMessage;
    try {
      const credentials = await deadline.orEnd(this.#credentials());
      const request = { method: 'GET', path, what } as const;
      response = await this.#exchange(request, credentials, deadline.controller.signal, false);
      if (response.statusCode === 200) {
        response.once('close', () => signal.removeEventListener('abort', abort));
        return response;
      }
      const body = await this.#readBody(response);
      throw failureOf(what, { status: response.statusCode ?? 0, headers: response.headers, body });
    } catch (error) {
      signal.removeEventListener('abort', abort);
      throw this.#unavailable(what, deadline.reasonFor(error));
    } finally {
      deadline.clear();
    }
  }

  /** Ends kept connections; requests under way fail. Streams end by their signals. */
  close(): void {
    this.#closed = true;
    this.#agent.destroy();
  }

  async #tryOnce(request: ApiRequest): Promise<Outcome> {
    const deadline = this.#deadline();
    try {
      const credentials = await deadline.orEnd(this.#credentials());
      const response = await this.#exchange(request, credentials, deadline.controller.signal, true);
      const body = await this.#readBody(response);
      const { statusCode, headers } = response;
      return { kind: 'answer', answer: { status: statusCode ?? 0, headers, body } };
    } catch (error) {
      return { kind: 'failure', error: deadline.reasonFor(error) };
    } finally {
      deadline.clear();
    }
  }

  /** Aborts after the request timeout. (AbortSignal.timeout, combined, can be lost to garbage collection.) */
  #deadline() {
    const milliseconds = this.#settings.requestTimeoutMs;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      controller.abort(new Error(`no answer within ${milliseconds / 1000} s`));
    }, milliseconds);
    const ended = new Promise<never>((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
    });
    ended.catch(() => undefined);
    return {
      controller,
      /** For what knows no signal: a program that is run for credentials, for example. */
      orEnd: <T>(work: Promise<T>) => Promise.race([work, ended]),
      clear: () => clearTimeout(timer),
      reasonFor: (error: unknown) => (controller.signal.aborted ? controller.signal.reason : error),
    };
  }

  #exchange(
    request: ApiRequest,
    credentials: Credentials,
    signal: AbortSignal,
    pooled: boolean,
  ): Promise<IncomingMessage> {
    if (this.#closed) return Promise.reject(new Error('the connection was closed'));
    return new Promise((resolve, reject) => {
      const options: RequestOptions = {
        ...(this.#isTls() ? credentials.tls : {}),
        method: request.method,
        host: this.#server.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: this.#server.port || (this.#isTls() ? 443 : 80),
        path: this.#server.pathname.replace(/\/$/, '') + request.path,
        agent: pooled ? this.#agent : false,
        signal,
        headers: {
          Accept: 'application/json',
          'User-Agent': 'ichor',
          ...(request.body === undefined
            ? {}
            : {
                'Content-Type': 'application/json',
                'Content-Length': String(Buffer.byteLength(request.body)),
              }),
          ...request.headers,
          ...credentials.headers,
        },
      };
      const sentAt = performance.now();
      const outgoing = this.#isTls() ? httpsRequest(options) : httpRequest(options);
      outgoing.on('response', (response) => {
        this.clock.observe(response.headers.date, sentAt, performance.now());
        resolve(response);
      });
      outgoing.on('error', (error) => {
        reject(outgoing.reusedSocket ? new StaleConnection(error) : error);
      });
      // A dead peer behind a silent watch is found by TCP within a minute.
      outgoing.on('socket', (socket) => socket.setKeepAlive(true, keepAliveProbeMs));
      outgoing.end(request.body);
    });
  }

  async #readBody(response: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > this.#settings.maxAnswerBytes) {
        response.destroy();
        throw new AnswerTooLarge(
          'unavailable',
          `The answer of ${this.#server.href} is larger than ${this.#settings.maxAnswerBytes} bytes.`,
        );
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  /** Milliseconds until the next try; undefined where there is to be none. */
  #pause(request: ApiRequest, outcome: Outcome, attempt: number): number | undefined {
    if (this.#closed || attempt >= this.#settings.attempts) return undefined;
    const jittered = fullJitter(attempt, firstRetryMs, longestRetryMs, this.#settings.random());
    return outcome.kind === 'failure'
      ? pauseAfterFailure(request, outcome.error, attempt, jittered)
      : pauseAfterAnswer(request, outcome.answer, jittered);
  }

  #unavailable(what: string, error: unknown): KubeError {
    if (error instanceof KubeError) return error;
    const cause = error instanceof StaleConnection ? error.cause : error;
    const { code, message } = describe(cause);
    const problem = certificateProblems.test(code)
      ? `the certificate of ${this.#server.href} is not accepted (${message}); check the certificate authority and the server name of the kubeconfig`
      : `${this.#server.href} does not answer (${message}); check the address and the network, it will be tried again`;
    return new KubeError('unavailable', `${what} failed: ${problem}.`, { cause });
  }

  #isTls(): boolean {
    return this.#server.protocol === 'https:';
  }
}

type Outcome =
  | { readonly kind: 'answer'; readonly answer: ApiAnswer }
  | { readonly kind: 'failure'; readonly error: unknown };

/** A kept connection that the server had closed when it was used again: nothing was answered on it. */
class StaleConnection extends Error {
  constructor(cause: unknown) {
    super('a kept connection was closed', { cause });
  }
}

function pauseAfterFailure(
  request: ApiRequest,
  error: unknown,
  attempt: number,
  jittered: number,
): number | undefined {
  if (error instanceof AnswerTooLarge) return undefined;
  if (request.method === 'GET') return jittered;
  // A PUT or PATCH that did arrive meets its own resource version or its own values again.
  const repeatable = error instanceof StaleConnection && request.method !== 'POST';
  return repeatable && attempt === 1 ? 0 : undefined;
}

function pauseAfterAnswer(
  request: ApiRequest,
  { status, headers }: ApiAnswer,
  jittered: number,
): number | undefined {
  const asked = retryAfter(headers);
  if (status === 429 || (status === 503 && asked !== undefined)) {
    if (asked !== undefined && asked > longestRetryAfterMs) return undefined;
    return (asked ?? 0) + jittered;
  }
  const passing = status === 500 || status === 502 || status === 503 || status === 504;
  return request.method === 'GET' && passing ? jittered : undefined;
}

const certificateProblems = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME|ISSUER/;

function describe(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: '', message: oneLine(String(error)) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Several addresses tried: the error has no message of its own.
  const message = error.message === '' ? code : error.message;
  return { code, message: oneLine(message) };
}
