import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { connectWithKubeconfig, type KubeConnection } from '../../connection.ts';
import type { ConnectionSettings } from '../../http-transport.ts';

/** One request that arrived, its body complete. */
export interface ArrivedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers one request; the last answer of a script is repeated. */
export type ScriptedAnswer = (request: ArrivedRequest, response: ServerResponse) => void;

/**
 * An API server on loopback that answers what a test says, over real sockets. Lists and watches
 * have scripts of their own; everything else is `other`.
 */
export class ScriptedApiServer {
  readonly requests: ArrivedRequest[] = [];
  /** Connections that were ever accepted. */
  connections = 0;
  /** Common names of the client certificates that connections showed. */
  readonly clientCertificates: string[] = [];
  lists: ScriptedAnswer[] = [];
  watches: ScriptedAnswer[] = [];
  others: ScriptedAnswer[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<() => void>();
  readonly #isTls: boolean;

  private constructor(tls: ServerOptions | undefined) {
    const answer = (incoming: IncomingMessage, response: ServerResponse) =>
      void this.#answer(incoming, response);
    this.#isTls = tls !== undefined;
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
    this.#server.on(this.#isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.connections += 1;
      if (socket instanceof TLSSocket) {
        const { subject } = socket.getPeerCertificate();
        if (subject !== undefined) this.clientCertificates.push(String(subject.CN));
      }
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(tls?: ServerOptions): Promise<ScriptedApiServer> {
    const server = new ScriptedApiServer(tls);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** `http://127.0.0.1:port`. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#isTls ? 'https' : 'http'}://127.0.0.1:${port}`;
  }

  /** A connection to this server with a token. */
  connect(settings: ConnectionSettings = {}): KubeConnection {
    return connectWithKubeconfig(
      { text: kubeconfigText({ server: this.url }), source: 'the test', trusted: true },
      settings,
    );
  }

  /** Resolves when at least `count` requests that suit have arrived. */
  async arrived(count: number, suits: (request: ArrivedRequest) => boolean = () => true) {
    for (;;) {
      const suiting = this.requests.filter(suits);
      if (suiting.length >= count) return suiting;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request: ArrivedRequest = {
      method: incoming.method ?? '',
      url: new URL(incoming.url ?? '', this.url),
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    };
    const script = this.#scriptFor(request);
    const answer = script.length > 1 ? script.shift() : script[0];
    this.requests.push(request);
    if (answer === undefined) response.writeHead(501).end();
    else answer(request, response);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  #scriptFor(request: ArrivedRequest): ScriptedAnswer[] {
    if (request.method !== 'GET') return this.others;
    if (request.url.searchParams.has('watch')) return this.watches;
    return request.url.searchParams.has('limit') ? this.lists : this.others;
  }
}

/** A kubeconfig with one cluster and one user; fields are added to either. */
export function kubeconfigText(
  cluster: Record<string, unknown>,
  user: Record<string, unknown> = { token: 'secret-token' },
): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'me@lab', context: { cluster: 'lab', user: 'me', namespace: 'ichor' } }],
    'current-context': 'me@lab',
  });
}

/** Answers with JSON. */
export function json(
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): ScriptedAnswer {
  return (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Answers with a `Status` as API servers send it. */
export function failure(
  status: number,
  message: string,
  reason = '',
  headers: Record<string, string> = {},
): ScriptedAnswer {
  return json(
    { kind: 'Status', status: 'Failure', code: status, reason, message },
    status,
    headers,
  );
}

/** Closes the connection without an answer. */
export const reset: ScriptedAnswer = (_request, response) => {
  response.socket?.destroy();
};

/** Never answers. */
export const silence: ScriptedAnswer = () => undefined;

/** A stream that stays open: `lines` at once, each an event or text to be sent as it is. */
export function stream(...lines: readonly (string | object)[]): ScriptedAnswer {
  return (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    for (const line of lines) response.write(asLine(line));
  };
}

/** A stream that the server ends after `lines`. */
export function shortStream(...lines: readonly (string | object)[]): ScriptedAnswer {
  return (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(lines.map(asLine).join(''));
  };
}

/** A stream that breaks off after `lines`. */
export function brokenStream(...lines: readonly (string | object)[]): ScriptedAnswer {
  return (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.write(lines.map(asLine).join(''), () => response.socket?.destroy());
  };
}

function asLine(line: string | object): string {
  return typeof line === 'string' ? line : `${JSON.stringify(line)}\n`;
}
