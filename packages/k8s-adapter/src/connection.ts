import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { dirname, join } from 'node:path';
import {
  type ApiConstructor,
  type ApiType,
  createConfiguration,
  KubeConfig,
  type RequestContext,
  ResponseContext,
  ServerConfiguration,
  wrapHttpLibrary,
} from '@kubernetes/client-node';
import { failureOf } from './api-failure.ts';
import { credentialsFor } from './credentials.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  type ConnectionSettings,
  HttpTransport,
} from './http-transport.ts';
import { KubeconfigError, type KubeconfigSource, loadKubeconfig } from './kubeconfig.ts';
import { tokenFileAuthenticator } from './token-file.ts';

/**
 * A way to one API server: credentials, a small pool of kept connections, the server's clock.
 * Nothing is dialled before the first call.
 */
export interface KubeConnection {
  /** URL of the API server. */
  readonly server: string;
  /** Namespace of the kubeconfig's context, or of the pod. */
  readonly namespace: string | undefined;
  /** What is unsafe about this connection, one sentence each; to be logged once. */
  readonly warnings: readonly string[];
  /** client-node's typed API of one group, over this connection. */
  api<T extends ApiType>(group: ApiConstructor<T>): T;
  /** A request whose JSON goes and comes untouched. @throws KubeError for any status but 2xx */
  request(request: ApiRequest): Promise<ApiAnswer>;
  /** An answer that does not end, on a connection of its own. @throws KubeError */
  stream(path: string, what: string, signal: AbortSignal): Promise<IncomingMessage>;
  /** The server's clock, milliseconds since the epoch; undefined before its first answer. */
  serverTime(): number | undefined;
  /** Ends kept connections; requests under way fail. Streams end by their signals. */
  close(): void;
}

/** Where a pod finds its credentials; for tests. */
export interface InClusterSource {
  /** `process.env` if absent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Holds `token`, `ca.crt` and `namespace`; `/var/run/secrets/kubernetes.io/serviceaccount` if absent. */
  readonly directory?: string;
}

/** Connects as a kubeconfig says. @throws KubeconfigError */
export function connectWithKubeconfig(
  source: KubeconfigSource,
  settings: ConnectionSettings = {},
): KubeConnection {
  const { kubeConfig, server, namespace, warnings } = loadKubeconfig(source);
  return connect(kubeConfig, { server, namespace, warnings }, settings);
}

/** Connects as a kubeconfig of this machine says; it is trusted. @throws KubeconfigError */
export function connectWithKubeconfigFile(
  path: string,
  settings: ConnectionSettings = {},
): KubeConnection {
  const text = readText(path, `The kubeconfig ${path}`, 'give the path of a kubeconfig');
  return connectWithKubeconfig(
    { text, source: path, trusted: true, directory: dirname(path) },
    settings,
  );
}

/**
 * Connects as the ServiceAccount of the pod this runs in. Token and certificate authority are read
 * again for every request.
 * @throws KubeconfigError outside of a pod
 */
export function connectInCluster(
  source: InClusterSource = {},
  settings: ConnectionSettings = {},
): KubeConnection {
  const env = source.env ?? process.env;
  const directory = source.directory ?? '/var/run/secrets/kubernetes.io/serviceaccount';
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '';
  const way = 'run in a pod with a ServiceAccount, or give a kubeconfig';
  if (host === '' || !/^[0-9]{1,5}$/.test(port)) {
    const missing = host === '' ? 'KUBERNETES_SERVICE_HOST' : 'KUBERNETES_SERVICE_PORT';
    throw new KubeconfigError(`The environment variable ${missing} is not set; ${way}.`);
  }
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(server)) {
    throw new KubeconfigError(
      `KUBERNETES_SERVICE_HOST is no host: ${JSON.stringify(host)}; ${way}.`,
    );
  }
  const tokenFile = join(directory, 'token');
  const caFile = join(directory, 'ca.crt');
  for (const file of [tokenFile, caFile]) readText(file, `The file ${file}`, way);
  const kubeConfig = new KubeConfig();
  kubeConfig.addAuthenticator(tokenFileAuthenticator(tokenFile));
  kubeConfig.loadFromClusterAndUser(
    { name: 'in-cluster', server, caFile, skipTLSVerify: false },
    { name: 'service-account' },
  );
  const namespace = optionalText(join(directory, 'namespace'));
  return connect(kubeConfig, { server, namespace, warnings: [] }, settings);
}

function connect(
  kubeConfig: KubeConfig,
  facts: Pick<KubeConnection, 'server' | 'namespace' | 'warnings'>,
  settings: ConnectionSettings,
): KubeConnection {
  const transport = new HttpTransport(facts.server, () => credentialsFor(kubeConfig), settings);
  const configuration = createConfiguration({
    baseServer: new ServerConfiguration(facts.server, {}),
    httpApi: wrapHttpLibrary({ send: (context) => sendTyped(transport, facts.server, context) }),
  });
  return {
    ...facts,
    api: (Group) => new Group(configuration),
    async request(request) {
      const answer = await transport.send(request);
      if (answer.status >= 200 && answer.status < 300) return answer;
      throw failureOf(request.what, answer);
    },
    stream: (path, what, signal) => transport.openStream(path, what, signal),
    serverTime: () => transport.clock.time(),
    close: () => transport.close(),
  };
}

const methods = new Set(['GET', 'PUT', 'POST', 'PATCH', 'DELETE']);

/** Carries a request of the generated API over our transport; its answers of any status go back. */
async function sendTyped(
  transport: HttpTransport,
  server: string,
  context: RequestContext,
): Promise<ResponseContext> {
  const url = new URL(context.getUrl());
  const prefix = new URL(server).pathname.replace(/\/$/, '');
  const path = url.pathname.slice(prefix.length) + url.search;
  const method = context.getHttpMethod();
  const body = context.getBody();
  if (!methods.has(method) || (body !== undefined && typeof body !== 'string')) {
    throw new TypeError(`${method} ${path} cannot be sent`);
  }
  const answer = await transport.send({
    method: method as ApiRequest['method'],
    path,
    what: `${method} ${url.pathname}`,
    headers: context.getHeaders(),
    ...(body === undefined ? {} : { body }),
  });
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return new ResponseContext(answer.status, headers, {
    text: async () => answer.body,
    binary: async () => Buffer.from(answer.body),
    stream: () => null,
  });
}

function readText(path: string, what: string, way: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new KubeconfigError(`${what} cannot be read (${code}); ${way}.`);
  }
}

function optionalText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
