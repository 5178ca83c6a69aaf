import { createPrivateKey, X509Certificate } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { KubeConfig, loadYaml } from '@kubernetes/client-node';
import { oneLine } from './api-failure.ts';
import { isRecord } from './kube-object.ts';
import { tokenFileAuthenticator } from './token-file.ts';

/** A kubeconfig or a pod's credentials that cannot be used: one sentence with source, field and way out. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** A kubeconfig in YAML or JSON. */
export interface KubeconfigSource {
  readonly text: string;
  /** What people call it: a file's path, or `Secret ichor-system/lab-kube, key kubeconfig`. */
  readonly source: string;
  /**
   * False for what came over the network, out of a Secret for example: nothing in it may then run a
   * program, read a file of this machine, or switch off the check of the server's certificate.
   */
  readonly trusted: boolean;
  /** Directory that relative paths in a trusted kubeconfig start from; the working directory if absent. */
  readonly directory?: string;
}

/** A kubeconfig that was read: the library's object, the server it means, and what is unsafe in it. */
export interface LoadedKubeconfig {
  readonly kubeConfig: KubeConfig;
  readonly server: string;
  readonly namespace: string | undefined;
  readonly warnings: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** A named entry of a kubeconfig list, with the words that point to it. */
interface Entry {
  readonly at: string;
  readonly name: string;
  readonly fields: Fields;
}

const inlineClusterFields = new Set([
  'server',
  'certificate-authority-data',
  'tls-server-name',
  'insecure-skip-tls-verify',
  'disable-compression',
  'extensions',
]);
const inlineUserFields = new Set([
  'client-certificate-data',
  'client-key-data',
  'token',
  'username',
  'password',
  'extensions',
]);
/** Fields that the library ignores although they change who or how one connects. */
const unsupported = ['proxy-url', 'as-groups', 'as-uid', 'as-user-extra'];

/**
 * Reads the current context of a kubeconfig.
 * (client-go `tools/clientcmd/api/v1/types.go` names the fields)
 * @throws KubeconfigError
 */
export function loadKubeconfig(given: KubeconfigSource): LoadedKubeconfig {
  const fail = (problem: string, way: string): never => {
    throw new KubeconfigError(`${given.source}: ${problem}; ${way}.`);
  };
  const document = parseDocument(given);
  const clusters = entries(document, 'clusters', 'cluster', fail);
  const users = entries(document, 'users', 'user', fail);
  const contexts = entries(document, 'contexts', 'context', fail);
  // All entries, not the current ones alone: the library reads some files while it loads.
  for (const entry of [...clusters, ...users]) refuseUnsupported(entry, fail);
  if (!given.trusted) {
    for (const entry of clusters) allowOnly(inlineClusterFields, entry, fail);
    for (const entry of users) allowOnly(inlineUserFields, entry, fail);
  }

  const contextName = text(document['current-context']);
  if (contextName === '') {
    return fail('current-context is missing', 'set it to the name of a context');
  }
  const context = find(contexts, contextName, 'current-context', fail);
  const cluster = find(clusters, text(context.fields['cluster']), `${context.at}.cluster`, fail);
  const user = find(users, text(context.fields['user']), `${context.at}.user`, fail);
  const warnings = checkServer(cluster, given, fail);
  checkCredentials(cluster, user, given, fail);

  return {
    kubeConfig: buildKubeConfig(cluster, user, context, given),
    server: serverOf(cluster),
    namespace: text(context.fields['namespace']) || undefined,
    warnings,
  };
}

type Fail = (problem: string, way: string) => never;

function parseDocument(given: KubeconfigSource): Fields {
  let document: unknown;
  try {
    document = loadYaml<unknown>(given.text);
  } catch (error) {
    const reason = error instanceof Error ? oneLine(error.message.split('\n')[0] ?? '') : 'no YAML';
    throw new KubeconfigError(
      `${given.source} is not valid YAML: ${reason}; put a kubeconfig there.`,
    );
  }
  if (!isRecord(document) || !Array.isArray(document['clusters'])) {
    throw new KubeconfigError(
      `${given.source} is not a kubeconfig: it has no list of clusters; put a kubeconfig there.`,
    );
  }
  return document;
}

function entries(document: Fields, listName: string, fieldName: string, fail: Fail): Entry[] {
  const items = document[listName] ?? [];
  if (!Array.isArray(items)) return fail(`${listName} is not a list`, 'correct it');
  return items.map((item: unknown, index) => {
    const at = `${listName}[${index}]`;
    if (!isRecord(item) || text(item['name']) === '') {
      return fail(`${at}.name is missing`, 'correct it');
    }
    const fields = item[fieldName] ?? {};
    if (!isRecord(fields)) return fail(`${at}.${fieldName} is not an object`, 'correct it');
    return { at: `${at}.${fieldName}`, name: text(item['name']), fields };
  });
}

function find(list: readonly Entry[], name: string, at: string, fail: Fail): Entry {
  const found = list.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  return fail(`${at} names ${JSON.stringify(name)}, which does not exist`, 'correct the name');
}

function refuseUnsupported(entry: Entry, fail: Fail): void {
  for (const field of unsupported) {
    if (isSet(entry.fields[field])) fail(`${entry.at}.${field} is not supported`, 'remove it');
  }
}

function allowOnly(allowed: ReadonlySet<string>, entry: Entry, fail: Fail): void {
  for (const [field, value] of Object.entries(entry.fields)) {
    if (allowed.has(field) || !isSet(value)) continue;
    fail(
      `${entry.at}.${field} is not permitted in a kubeconfig from there`,
      'put certificates and keys inline (the fields that end in -data) or use a token',
    );
  }
}

function checkServer(cluster: Entry, given: KubeconfigSource, fail: Fail): string[] {
  const at = `${cluster.at}.server`;
  const server = text(cluster.fields['server']);
  if (!URL.canParse(server)) return fail(`${at} is no URL`, 'write https://host:port');
  const url = new URL(server);
  // `kubectl proxy` listens there without TLS.
  const plainLoopback =
    given.trusted && url.protocol === 'http:' && /^(127\.|\[::1\]|localhost)/.test(url.hostname);
  if (url.protocol !== 'https:' && !plainLoopback) {
    return fail(`${at} is not an https URL`, 'write https://host:port');
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    return fail(`${at} holds more than scheme, host, port and path`, 'write https://host:port');
  }
  if (cluster.fields['insecure-skip-tls-verify'] !== true) return [];
  const field = `${cluster.at}.insecure-skip-tls-verify`;
  if (!given.trusted) {
    return fail(
      `${field} is not permitted in a kubeconfig from there`,
      'give certificate-authority-data instead',
    );
  }
  return [
    `${given.source}: ${field} is set, so whoever can redirect traffic can play the API server; give certificate-authority-data instead.`,
  ];
}

function checkCredentials(cluster: Entry, user: Entry, given: KubeconfigSource, fail: Fail): void {
  const has = (field: string) => isSet(user.fields[field]);
  const certificate = has('client-certificate-data') || has('client-certificate');
  const key = has('client-key-data') || has('client-key');
  if (certificate !== key) {
    const missing = certificate ? 'client-key-data' : 'client-certificate-data';
    fail(`${user.at}.${missing} is missing beside its counterpart`, 'give both');
  }
  const others = ['token', 'tokenFile', 'username', 'exec', 'auth-provider'];
  // A plain proxy on loopback brings credentials of its own.
  if (!certificate && !others.some(has) && serverOf(cluster).startsWith('https:')) {
    fail(`${user.at} holds no credentials`, 'give a client certificate and key, or a token');
  }
  checkInline(cluster, 'certificate-authority-data', 'a PEM certificate', readCertificate, fail);
  checkInline(user, 'client-certificate-data', 'a PEM certificate', readCertificate, fail);
  checkInline(user, 'client-key-data', 'a PEM private key', createPrivateKey, fail);
  checkFile(cluster, 'certificate-authority', given, fail);
  for (const field of ['client-certificate', 'client-key', 'tokenFile']) {
    checkFile(user, field, given, fail);
  }
}

function checkInline(
  entry: Entry,
  field: string,
  what: string,
  read: (pem: Buffer) => unknown,
  fail: Fail,
): void {
  const value = entry.fields[field];
  if (!isSet(value)) return;
  try {
    read(Buffer.from(text(value), 'base64'));
  } catch {
    fail(`${entry.at}.${field} is not base64 of ${what}`, 'replace it');
  }
}

function checkFile(entry: Entry, field: string, given: KubeconfigSource, fail: Fail): void {
  const value = entry.fields[field];
  if (!isSet(value)) return;
  const path = absolute(text(value), given);
  try {
    accessSync(path, constants.R_OK);
  } catch {
    fail(`${entry.at}.${field}: the file ${path} cannot be read`, 'correct the path');
  }
}

function buildKubeConfig(
  cluster: Entry,
  user: Entry,
  context: Entry,
  given: KubeconfigSource,
): KubeConfig {
  const kubeConfig = new KubeConfig();
  const path = (value: unknown) => (isSet(value) ? absolute(text(value), given) : undefined);
  const tokenFile = path(user.fields['tokenFile']);
  if (tokenFile !== undefined) kubeConfig.addAuthenticator(tokenFileAuthenticator(tokenFile));
  const server = serverOf(cluster);
  kubeConfig.loadFromOptions({
    clusters: [
      {
        name: cluster.name,
        server,
        caData: optionalText(cluster.fields['certificate-authority-data']),
        caFile: path(cluster.fields['certificate-authority']),
        tlsServerName: optionalText(cluster.fields['tls-server-name']),
        // The library takes plain HTTP only together with this.
        skipTLSVerify:
          cluster.fields['insecure-skip-tls-verify'] === true || server.startsWith('http:'),
      },
    ],
    users: [
      {
        name: user.name,
        certData: optionalText(user.fields['client-certificate-data']),
        certFile: path(user.fields['client-certificate']),
        keyData: optionalText(user.fields['client-key-data']),
        keyFile: path(user.fields['client-key']),
        token: tokenFile === undefined ? optionalText(user.fields['token'])?.trim() : undefined,
        username: optionalText(user.fields['username']),
        password: optionalText(user.fields['password']),
        impersonateUser: optionalText(user.fields['as']),
        exec: user.fields['exec'] ?? undefined,
        authProvider: user.fields['auth-provider'] ?? undefined,
      },
    ],
    contexts: [{ name: context.name, cluster: cluster.name, user: user.name }],
    currentContext: context.name,
  });
  return kubeConfig;
}

function serverOf(cluster: Entry): string {
  return text(cluster.fields['server']).replace(/\/+$/, '');
}

function readCertificate(pem: Buffer): X509Certificate {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no PEM');
  return new X509Certificate(pem);
}

function absolute(path: string, given: KubeconfigSource): string {
  return isAbsolute(path) ? path : resolve(given.directory ?? '.', path);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function optionalText(value: unknown): string | undefined {
  return text(value) || undefined;
}
