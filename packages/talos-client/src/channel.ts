import { Client, connectivityState, type Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { CallFailure, quotedText } from './call-failure.ts';
import { type Endpoint, endpointText, grpcTarget } from './endpoint.ts';
import { handshakeFailure } from './handshake-failure.ts';
import { ConnectionRecord, MutualTlsCredentials, type TlsMaterial } from './mutual-tls.ts';
import { probeTcp } from './tcp-probe.ts';
import type { RemoteCall } from './wire.ts';

/** What every call takes along. */
export interface CallScope {
  /** Routing metadata. */
  readonly metadata: Metadata;
  /** Ends the call; its reason is what the call fails with. */
  readonly signal: AbortSignal;
  /** Told to the server, so that it stops working for a client that has gone. */
  readonly deadline?: Date;
}

const idleTimeoutMs = 300_000;

// Statuses that grpc-js never makes up itself: whoever sends one is there and answers.
const saidByServer = new Set([
  status.NOT_FOUND,
  status.PERMISSION_DENIED,
  status.UNAUTHENTICATED,
  status.INVALID_ARGUMENT,
  status.FAILED_PRECONDITION,
]);

/** One connection to one address with one set of credentials. Not used again once it has failed. */
export class Channel {
  readonly address: string;
  readonly #endpoint: Endpoint;
  readonly #record = new ConnectionRecord();
  readonly #client: Client;
  #users = 0;
  #isRetired = false;
  #lastAnswer = Number.NEGATIVE_INFINITY;

  constructor(endpoint: Endpoint, material: TlsMaterial, maxMessageBytes: number) {
    this.#endpoint = endpoint;
    this.address = endpointText(endpoint);
    const credentials = new MutualTlsCredentials(material, endpoint.host, this.#record);
    this.#client = new Client(grpcTarget(endpoint), credentials, {
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.client_idle_timeout_ms': idleTimeoutMs,
      // Each of these would let something besides the inventory choose whom we talk to, or when.
      'grpc.enable_http_proxy': 0,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  /** Reads that are using it. */
  get users(): number {
    return this.#users;
  }

  /** Whether it is connected, as far as can be known without sending anything. */
  get isReady(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  /** When the peer last answered a call, in `performance.now()` milliseconds. */
  get lastAnswer(): number {
    return this.#lastAnswer;
  }

  /** Holds the channel open until it is released, retired or not. */
  hold(): void {
    this.#users += 1;
  }

  /** Lets go of it. A retired channel closes with its last user. */
  release(): void {
    this.#users -= 1;
    this.#closeIfUnused();
  }

  /** Takes it out of use: calls in flight finish, then it closes. */
  retire(): void {
    this.#isRetired = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#isRetired && this.#users === 0) {
      this.#client.close();
      // A peer that is frozen or gone would never confirm a polite end.
      this.#record.end();
    }
  }

  /**
   * Connects and waits until both sides have accepted each other's certificate.
   *
   * @param milliseconds bound of the attempt
   * @throws CallFailure
   */
  async connect(milliseconds: number, signal: AbortSignal): Promise<void> {
    const until = Date.now() + milliseconds;
    if (this.isReady) {
      return;
    }
    await probeTcp(this.#endpoint, milliseconds, signal);
    const channel = this.#client.getChannel();
    let state = channel.getConnectivityState(true);
    while (state !== connectivityState.READY) {
      signal.throwIfAborted();
      if (state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN) {
        throw handshakeFailure(this.#record, this.address);
      }
      if (!(await this.#stateChanged(state, until, signal))) {
        const text = `${this.address} accepted a connection, but did not finish the TLS handshake in time`;
        throw new CallFailure('deadline', text, { beforeConnection: true });
      }
      state = channel.getConnectivityState(true);
    }
  }

  #stateChanged(from: connectivityState, until: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#client.getChannel().watchConnectivityState(from, until, (error) => {
        signal.removeEventListener('abort', onAbort);
        resolve(error === undefined || error === null);
      });
    });
  }

  /** Asks for one message. @throws CallFailure, or the reason of the signal */
  unary<Request, Response>(
    call: RemoteCall<Request, Response>,
    request: Request,
    scope: CallScope,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      scope.signal.throwIfAborted();
      const options = scope.deadline === undefined ? {} : { deadline: scope.deadline };
      const running = this.#client.makeUnaryRequest(
        call.path,
        call.encodeRequest,
        call.decodeResponse,
        request,
        scope.metadata,
        options,
        (error, response) => {
          scope.signal.removeEventListener('abort', onAbort);
          if (error !== null) {
            reject(this.#failure(error));
          } else if (response === undefined) {
            reject(new CallFailure('protocol', `${this.address} answered without a message`));
          } else {
            this.#lastAnswer = performance.now();
            resolve(response);
          }
        },
      );
      const onAbort = () => {
        running.cancel();
        reject(scope.signal.reason);
      };
      scope.signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Asks for a stream of messages; leaving the loop cancels the call. @throws as `unary` */
  async *stream<Request, Response>(
    call: RemoteCall<Request, Response>,
    request: Request,
    scope: CallScope,
  ): AsyncGenerator<Response, void, undefined> {
    scope.signal.throwIfAborted();
    const options = scope.deadline === undefined ? {} : { deadline: scope.deadline };
    const running = this.#client.makeServerStreamRequest(
      call.path,
      call.encodeRequest,
      call.decodeResponse,
      request,
      scope.metadata,
      options,
    );
    // After the loop was left nobody else listens, and the call still ends with an error.
    running.on('error', () => {});
    const onAbort = () => running.cancel();
    scope.signal.addEventListener('abort', onAbort, { once: true });
    try {
      for await (const message of running) {
        this.#lastAnswer = performance.now();
        yield message as Response;
      }
    } catch (error) {
      scope.signal.throwIfAborted();
      throw error instanceof CallFailure ? error : this.#failure(error as ServiceError);
    } finally {
      scope.signal.removeEventListener('abort', onAbort);
      running.cancel();
    }
  }

  #failure(error: ServiceError): CallFailure {
    if (saidByServer.has(error.code)) {
      this.#lastAnswer = performance.now();
    }
    return statusFailure(error, this.address);
  }
}

// What gRPC-Go says where a control plane does not accept the node's certificate, or the node its.
const handshakeOfServer = /authentication handshake failed|remote error: tls|x509: /;

/** The way out of the two refusals that a configuration can cause (Talos: internal/app/apid, resources/access.go). */
function denialHint(details: string): string {
  if (details.includes('no request forwarding')) {
    return '; list control planes only as endpoints';
  }
  return details.includes('not authorized')
    ? '; use a talosconfig whose role may read it (os:reader for node facts)'
    : '';
}

/** Translates a gRPC status into our closed codes. */
function statusFailure(error: ServiceError, address: string): CallFailure {
  const name = status[error.code] ?? String(error.code);
  const details = quotedText(error.details ?? error.message ?? '');
  const text = `${address} answered ${name}: ${details}`;
  switch (error.code) {
    case status.UNAVAILABLE:
      return handshakeOfServer.test(details)
        ? new CallFailure('unauthenticated', text)
        : new CallFailure('unreachable', `${address} is unavailable: ${details}`);
    case status.UNAUTHENTICATED:
      return new CallFailure('unauthenticated', text);
    case status.PERMISSION_DENIED:
      return new CallFailure('denied', `${text}${denialHint(details)}`);
    case status.NOT_FOUND:
      return new CallFailure('notFound', text);
    case status.DEADLINE_EXCEEDED:
      return new CallFailure('deadline', `${address} gave no answer in time`);
    case status.RESOURCE_EXHAUSTED:
      return new CallFailure('protocol', text, { isExhausted: true });
    default:
      return new CallFailure('protocol', text);
  }
}
