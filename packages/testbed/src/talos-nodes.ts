import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';

/** Puts a resource into COSI's phase `tearingDown`: it is still there, and a reader has to treat it as gone. */
export const tearingDown = { phase: 'tearingDown' } as const;

/** A value sets the resource, `null` deletes it. */
export type TalosResourceValue<T> = T | typeof tearingDown | null;

/** The part of Talos's PlatformMetadata that names a machine. */
export type TalosPlatform = {
  readonly platform?: string;
  readonly hostname?: string;
  readonly internalDNS?: string;
  readonly externalDNS?: string;
};

/**
 * The facts that a Talos node reports. Where a node is described, an absent field is a resource that does not
 * exist; in a patch, an absent field stays as it is.
 */
export type TalosNodeFields = {
  /** NodeIP `kubelet`: addresses without prefix length. An empty list is a resource with no address. */
  readonly nodeIPs?: TalosResourceValue<readonly string[]>;
  /** Nodename `nodename`: the name of the Node object. */
  readonly nodename?: TalosResourceValue<string>;
  /** HostnameStatus `hostname`, its first part. */
  readonly hostname?: TalosResourceValue<string>;
  /** The second part of HostnameStatus; without a host name it is reported nowhere. */
  readonly domainname?: string | null;
  /** AddressStatus on link `external`: addresses or CIDRs. */
  readonly externalAddresses?: TalosResourceValue<readonly string[]>;
  readonly platform?: TalosResourceValue<TalosPlatform>;
  /** NodeIPConfig `kubelet`: CIDRs, and virtual addresses as bare ones. A control plane needs it to be readable. */
  readonly excludeSubnets?: TalosResourceValue<readonly string[]>;
  readonly validSubnets?: readonly string[] | null;
  /** Shared addresses that the node holds: part of NodeAddress `current`, never of NodeIP. */
  readonly virtualAddresses?: readonly string[] | null;
};

/** One Talos node. */
export type TalosNodeSpec = TalosNodeFields & {
  /** By which the methods of {@link TalosNodes} know it. */
  readonly name: string;
  /** Its address, which must be on an interface: it listens there, and control planes route to it. */
  readonly address: string;
  /** Listened on instead of `address`, and known to control planes only: a node behind a firewall. */
  readonly listenAddress?: string;
  /** Default 50000. */
  readonly port?: number;
  readonly machineType: 'controlplane' | 'worker';
};

/** What the control API tells about a node. */
export type TalosNodeState = TalosNodeSpec & {
  readonly listening: boolean;
  readonly frozen: boolean;
  readonly certificate: TalosCertificateMode;
};

/** What a node's server certificate is: right, for another machine's names, of a CA nobody trusts, or over. */
export type TalosCertificateMode = 'good' | 'wrongName' | 'otherCA' | 'expired';

/**
 * Whose credentials a talosconfig holds: a role of the cluster (`etcd-backup` may read no resource), a reader's
 * certificate that has expired, or an administrator's of another CA.
 */
export type TalosCredential =
  | 'admin'
  | 'operator'
  | 'reader'
  | 'etcd-backup'
  | 'expired'
  | 'foreign';

/** A gRPC status by its published name. */
export type GrpcCode =
  | 'OK'
  | 'CANCELLED'
  | 'UNKNOWN'
  | 'INVALID_ARGUMENT'
  | 'DEADLINE_EXCEEDED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'OUT_OF_RANGE'
  | 'UNIMPLEMENTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'DATA_LOSS'
  | 'UNAUTHENTICATED';

/** How often one kind of request reached a node; refused and failed requests count too. */
export type TalosCall = {
  readonly node: string;
  /** Full name, such as `/cosi.resource.State/Get`. */
  readonly method: string;
  /** Resource type of a COSI request, else empty. */
  readonly type: string;
  /** Roles of the caller, sorted and joined by commas. */
  readonly roles: string;
  /** Whether the caller dialled this node or a control plane passed the request on. */
  readonly via: 'direct' | 'forwarded';
  readonly count: number;
};

/** Counters since the start or the last reset. */
export type TalosCounters = {
  readonly calls: readonly TalosCall[];
  /** Accepted TCP connections by node, those whose TLS handshake failed included. */
  readonly connections: Readonly<Record<string, number>>;
};

/** A running cluster of Talos nodes. Every method rejects with one sentence that names the node and the fault. */
export type TalosNodes = {
  /** File with what the program printed. */
  readonly log: string;
  /** Pid of the program. */
  readonly pid: number;
  /** Path of a talosconfig whose endpoints are the control planes; rewritten when a control plane is added. */
  talosconfig(credential: TalosCredential): string;
  /** Changes what a node reports; nothing changes when it fails. */
  patch(node: string, fields: TalosNodeFields): Promise<void>;
  /** The node still accepts connections, but neither answers nor reads, like a machine that hangs. */
  freeze(node: string): Promise<void>;
  /** Lets a frozen node go on where it was. */
  unfreeze(node: string): Promise<void>;
  /** The node refuses connections and drops those it has. */
  stop(node: string): Promise<void>;
  start(node: string): Promise<void>;
  /** Changes the server certificate and cuts open connections. */
  certificate(node: string, mode: TalosCertificateMode): Promise<void>;
  /** Holds every answer of the node back; 0 ends it. */
  delay(node: string, milliseconds: number): Promise<void>;
  /**
   * Answers requests with a status: those for a resource type, those of a method by its full name, or all (`*`).
   * `OK` ends it; `times` ends it after so many requests.
   */
  fail(
    node: string,
    type: string,
    code: GrpcCode,
    options?: { readonly times?: number; readonly message?: string },
  ): Promise<void>;
  counters(node?: string): Promise<TalosCounters>;
  resetCounters(): Promise<void>;
  addNode(node: TalosNodeSpec): Promise<void>;
  list(): Promise<readonly TalosNodeState[]>;
  /** Ends the program; nothing happens when it has ended already. */
  close(): Promise<void>;
};

/** How {@link startTalosNodes} starts the program. */
export type TalosNodesOptions = {
  /** Path of the built `talos-nodes`. */
  readonly binary: string;
  /** Directory for talosconfigs, control socket and log; made with mode 0700. Its path must stay below 95 bytes. */
  readonly dir: string;
  readonly nodes: readonly TalosNodeSpec[];
  /** Default 30 s. */
  readonly startTimeoutMs?: number;
};

const stopGraceMs = 5_000;

/**
 * Starts Talos nodes and resolves once all of them listen. The program ends with this process, even when it dies.
 *
 * @throws Error when the program cannot be started, refuses the nodes (with its own words) or is not ready in time.
 */
export async function startTalosNodes(options: TalosNodesOptions): Promise<TalosNodes> {
  const { binary, dir, nodes, startTimeoutMs = 30_000 } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const log = join(dir, 'talos-nodes.log');
  const output = openSync(log, 'a', 0o600);
  // The pipe on standard input is what ends the program when this process dies without closing anything.
  const child = spawn(binary, ['serve', '--exit-on-stdin-close'], {
    stdio: ['pipe', 'pipe', output],
  });
  closeSync(output);
  child.stdin?.on('error', () => undefined);
  child.stdin?.write(JSON.stringify({ dir, nodes }));
  const { pid } = await whenReady(child, startTimeoutMs).catch(async (error: Error) => {
    await stopChild(child);
    throw new Error(`${binary} did not start: ${error.message}.${await lastLine(log)}`);
  });

  const agent = new Agent({ keepAlive: true });
  const send = async <T>(method: string, path: string, body?: object): Promise<T> =>
    (await call(agent, join(dir, 'control.sock'), method, path, body)) as T;
  const nodePath = (node: string, action = ''): string =>
    `/nodes/${encodeURIComponent(node)}${action}`;
  return {
    log,
    pid,
    talosconfig: (credential) => join(dir, credential),
    patch: (node, fields) => send('PATCH', nodePath(node), fields),
    freeze: (node) => send('POST', nodePath(node, '/freeze')),
    unfreeze: (node) => send('POST', nodePath(node, '/unfreeze')),
    stop: (node) => send('POST', nodePath(node, '/stop')),
    start: (node) => send('POST', nodePath(node, '/start')),
    certificate: (node, mode) => send('PUT', nodePath(node, '/certificate'), { mode }),
    delay: (node, milliseconds) => send('PUT', nodePath(node, '/delay'), { milliseconds }),
    fail: (node, type, code, extra = {}) =>
      send('PUT', nodePath(node, '/failure'), { type, code, ...extra }),
    counters: (node) =>
      send('GET', node === undefined ? '/counters' : `/counters?node=${encodeURIComponent(node)}`),
    resetCounters: () => send('DELETE', '/counters'),
    addNode: (node) => send('POST', '/nodes', node),
    list: () => send('GET', '/nodes'),
    async close() {
      agent.destroy();
      await stopChild(child);
    },
  };
}

/** Resolves at the line `ready`; rejects with the reason when the program ends first or the time is up. */
function whenReady(child: ChildProcess, timeoutMs: number): Promise<{ readonly pid: number }> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`it was not ready within ${timeoutMs / 1_000} s`));
    }, timeoutMs);
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-1_000);
      if (/^ready$/m.test(printed) && child.pid !== undefined) {
        clearTimeout(timer);
        resolve({ pid: child.pid });
      }
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`it ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((done) => child.once('exit', () => done()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopGraceMs);
  await gone;
  clearTimeout(timer);
}

async function lastLine(log: string): Promise<string> {
  const line = (await readFile(log, 'utf8')).trimEnd().split('\n').at(-1);
  return line === undefined || line === '' ? '' : ` It said: ${line}`;
}

/** One request to the control API; resolves with the JSON of the answer, `undefined` where there is none. */
function call(
  agent: Agent,
  socketPath: string,
  method: string,
  path: string,
  body: object | undefined,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      reject(new Error(`Talos nodes: ${method} ${path} failed: ${reason}.`));
    };
    const sent = request({ agent, socketPath, method, path }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.once('error', (error) => fail(error.message));
      answer.once('end', () => {
        const parsed: unknown = text === '' ? undefined : parseJson(text);
        if (answer.statusCode === 200 || answer.statusCode === 204) resolve(parsed);
        else fail((parsed as { error?: string } | undefined)?.error ?? `HTTP ${answer.statusCode}`);
      });
    });
    sent.once('error', (error) => fail(error.message));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { error: text.trim() };
  }
}
