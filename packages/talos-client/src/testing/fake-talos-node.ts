import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import {
  getCall,
  listCall,
  versionCall,
  type WireQuery,
  type WireResource,
  watchCall,
} from '../wire.ts';
import type { IssuedCertificate } from './certificates.ts';

/** One call that a fake node received. */
export interface ReceivedCall {
  /** `/cosi.resource.State/Get` and so on. */
  readonly path: string;
  /** The request message as it came over the wire. */
  readonly bytes: Uint8Array;
  /** Value of the `node` metadata; undefined where there was none. */
  readonly node: string | undefined;
  /** Whether there was `nodes` metadata, which COSI calls must never have. */
  readonly hasNodes: boolean;
}

/** A status that a fake node answers with. */
export interface FakeStatus {
  readonly code: number;
  readonly details: string;
}

/**
 * What a test makes of one call: raw messages, a status, no answer ever, a list without an end, or
 * undefined to let the node answer itself.
 */
export type OverriddenAnswer =
  | readonly Uint8Array[]
  | FakeStatus
  | 'silence'
  | 'endless'
  | undefined;

/** Has the first word about a call, at once or later. */
export type Override = (call: ReceivedCall) => OverriddenAnswer | Promise<OverriddenAnswer>;

/** Settings of a fake node. */
export interface FakeTalosNodeOptions {
  /** PEM of the authority that client certificates must come from. */
  readonly clientCa: string;
  readonly certificate: IssuedCertificate;
  readonly resources?: readonly WireResource[];
  /** Resources of the nodes that it forwards to, by `node` metadata; absent: it forwards to none. */
  readonly forwardsTo?: ReadonlyMap<string, readonly WireResource[]>;
  /** Default: a free port. */
  readonly port?: number;
  /** Loopback address to listen on. Default 127.0.0.1. */
  readonly host?: string;
}

/** A Talos node on the loopback interface, with controls for tests. */
export interface FakeTalosNode {
  readonly host: string;
  readonly port: number;
  readonly calls: readonly ReceivedCall[];
  resources: readonly WireResource[];
  /** Has the first word about every call. */
  override: Override | undefined;
  /** Drops all connections and stops listening. */
  stop(): Promise<void>;
}

type RawUnary = ServerUnaryCall<Buffer, Buffer>;
type RawStream = ServerWritableStream<Buffer, Buffer>;

const asIs = (bytes: Buffer) => bytes;

function rawMethod(path: string, responseStream: boolean) {
  return {
    path,
    requestStream: false,
    responseStream,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
}

/** Starts a fake node that serves the COSI state and the version over mutual TLS. */
export async function startFakeTalosNode(options: FakeTalosNodeOptions): Promise<FakeTalosNode> {
  const calls: ReceivedCall[] = [];
  const server = new Server({ 'grpc.max_send_message_length': -1 });

  const received = (path: string, request: Buffer, metadata: Metadata): ReceivedCall => {
    const call = {
      path,
      bytes: Uint8Array.from(request),
      node: metadata.get('node')[0]?.toString(),
      hasNodes: metadata.get('nodes').length > 0,
    };
    calls.push(call);
    return call;
  };

  const answer = async (call: ReceivedCall, respond: Respond): Promise<void> => {
    const word = await fake.override?.(call);
    if (word === 'silence') {
      return;
    }
    if (word === 'endless') {
      respond.endlessly(fake.resources[0]);
    } else if (word !== undefined && 'code' in word) {
      respond.fail(word);
    } else if (word !== undefined) {
      respond.send(word);
    } else {
      const scope = call.node === undefined ? fake.resources : options.forwardsTo?.get(call.node);
      answerFrom(scope, call, respond);
    }
  };

  const unary = (path: string) => (call: RawUnary, callback: sendUnaryData<Buffer>) =>
    answer(received(path, call.request, call.metadata), {
      fail: (failure) => callback({ ...failure, metadata: new Metadata() }),
      send: (messages) => callback(null, Buffer.from(messages[0] ?? [])),
      endlessly: () => {},
    });
  const streaming = (path: string) => (call: RawStream) =>
    answer(received(path, call.request, call.metadata), {
      fail: (failure) => call.emit('error', { ...failure, metadata: new Metadata() }),
      send: (messages, staysOpen) => {
        for (const message of messages) {
          call.write(Buffer.from(message));
        }
        if (staysOpen !== true) {
          call.end();
        }
      },
      endlessly: (resource) => writeForever(call, resource),
    });

  const methods = [getCall, listCall, watchCall, versionCall].map(({ path }) => path);
  for (const path of methods) {
    const isStream = path === listCall.path || path === watchCall.path;
    const handler = isStream ? streaming(path) : unary(path);
    server.addService({ method: rawMethod(path, isStream) }, { method: handler });
  }

  const host = options.host ?? '127.0.0.1';
  const pair = {
    private_key: Buffer.from(options.certificate.key),
    cert_chain: Buffer.from(options.certificate.crt),
  };
  const credentials = ServerCredentials.createSsl(Buffer.from(options.clientCa), [pair], true);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${options.port ?? 0}`, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const fake: FakeTalosNode = {
    host,
    port,
    calls,
    resources: options.resources ?? [],
    override: undefined,
    stop: () => {
      const stopped = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      server.forceShutdown();
      return stopped;
    },
  };
  return fake;
}

interface Respond {
  fail(failure: FakeStatus): void;
  send(messages: readonly Uint8Array[], staysOpen?: boolean): void;
  endlessly(resource: WireResource | undefined): void;
}

// The messages of the client are read with the client's own schema: the bytes of real answers are
// what proves that schema, and they are tested apart.
function answerFrom(
  resources: readonly WireResource[] | undefined,
  call: ReceivedCall,
  respond: Respond,
): void {
  if (resources === undefined) {
    respond.fail({ code: status.PERMISSION_DENIED, details: 'no request forwarding' });
    return;
  }
  if (call.path === versionCall.path) {
    const version = { tag: 'v1.14.1', sha: 'fake', arch: 'amd64' };
    const messages = [{ version, platform: { name: 'fake', mode: 'metal' } }];
    respond.send([versionCall.encodeResponse({ messages })]);
    return;
  }
  const query = getCall.decodeRequest(Buffer.from(call.bytes));
  const matches = resources.filter(
    ({ metadata }) =>
      metadata?.namespace === query.namespace &&
      metadata.type === query.type &&
      (call.path === listCall.path || metadata.id === query.id),
  );
  if (call.path === listCall.path) {
    respond.send(matches.map((resource) => listCall.encodeResponse({ resource })));
  } else if (call.path === watchCall.path) {
    const events = matches.map((resource) => ({ resource, eventType: 'CREATED' }));
    respond.send(
      [watchCall.encodeResponse({ event: [] }), watchCall.encodeResponse({ event: events })],
      true,
    );
  } else if (matches[0] === undefined) {
    respond.fail({ code: status.NOT_FOUND, details: missingText(query) });
  } else {
    respond.send([getCall.encodeResponse({ resource: matches[0] })]);
  }
}

function missingText(query: WireQuery): string {
  return `resource ${query.type}(${query.namespace}/${query.id}@undefined) doesn't exist`;
}

function writeForever(call: RawStream, resource: WireResource | undefined): void {
  const message = listCall.encodeResponse({ resource: resource ?? null });
  let isOver = false;
  call.on('cancelled', () => {
    isOver = true;
  });
  const writeMore = () => {
    let keepsUp = true;
    for (let count = 0; count < 64 && keepsUp && !isOver; count += 1) {
      keepsUp = call.write(message);
    }
    // Each batch gives the event loop its turn, or the cancellation would never be seen.
    if (isOver) {
      return;
    }
    if (keepsUp) {
      setImmediate(writeMore);
    } else {
      call.once('drain', () => setImmediate(writeMore));
    }
  };
  writeMore();
}
