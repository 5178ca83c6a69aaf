import { Agent, request as httpsRequest } from 'node:https';
import type { KeyPairPem } from './certificate-authority.ts';

/** Who asks: a client certificate, a bearer token, or nobody. */
export type Requester = KeyPairPem | { readonly token: string } | 'anonymous';

/** One call to an API server. */
export type KubeRequest = {
  /** Default GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default `application/json`; a PATCH needs one of the patch types. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
};

/** What came back: HTTP status, the text, and the text parsed where it is JSON. */
export type KubeResponse = {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects are looked into freely by tests.
  readonly body: any;
};

/** Sends requests of one requester to one API server over kept connections. */
export type KubeRequester = {
  send(path: string, request?: KubeRequest): Promise<KubeResponse>;
  close(): void;
};

/**
 * @param server URL of the API server.
 * @param caPem what its certificate chains to.
 * @param options `verifyServer: false` only for probes of programs that sign their own certificate.
 * @returns a requester; its calls reject only where no HTTP answer arrives.
 */
export function kubeRequester(
  server: string,
  caPem: string,
  who: Requester,
  options: { readonly verifyServer?: boolean } = {},
): KubeRequester {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 8,
    ca: caPem,
    rejectUnauthorized: options.verifyServer ?? true,
    ...(who !== 'anonymous' && 'certificate' in who ? { cert: who.certificate, key: who.key } : {}),
  });
  const authorization: Record<string, string> =
    who !== 'anonymous' && 'token' in who ? { authorization: `Bearer ${who.token}` } : {};

  const send = (path: string, call: KubeRequest = {}): Promise<KubeResponse> =>
    new Promise((done, fail) => {
      const payload = call.body === undefined ? undefined : JSON.stringify(call.body);
      const outgoing = httpsRequest(
        new URL(path, server),
        {
          agent,
          method: call.method ?? 'GET',
          timeout: call.timeoutMs ?? 20_000,
          headers: {
            accept: 'application/json',
            ...authorization,
            ...(payload === undefined
              ? {}
              : {
                  'content-type': call.contentType ?? 'application/json',
                  'content-length': String(Buffer.byteLength(payload)),
                }),
            ...call.headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('error', fail);
          response.once('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            done({ status: response.statusCode ?? 0, text, body: parsed(text) });
          });
        },
      );
      outgoing.once('timeout', () =>
        outgoing.destroy(new Error(`${call.method ?? 'GET'} ${server}${path} was not answered.`)),
      );
      outgoing.once('error', fail);
      outgoing.end(payload);
    });
  return { send, close: () => agent.destroy() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
