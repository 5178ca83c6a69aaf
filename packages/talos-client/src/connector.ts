import { Metadata } from '@grpc/grpc-js';
import type { AccessSource } from './access-source.ts';
import { CallFailure, quotedText } from './call-failure.ts';
import type { CallScope, Channel } from './channel.ts';
import { ChannelPool, type ChannelPurpose, type Loan } from './channel-pool.ts';
import { endpointText } from './endpoint.ts';
import { materialFingerprint, type TlsMaterial, tlsMaterial } from './mutual-tls.ts';
import { type Route, Routing } from './routing.ts';
import type { TalosAccess } from './talos-client.ts';
import { TalosError, type TalosErrorCode } from './talos-error.ts';

/** What work on a node is given: an open channel and what its calls take along. */
export interface Connected {
  readonly channel: Channel;
  readonly scope: CallScope;
  readonly route: Route;
  /** Work that goes on for as long as it likes says so once the node has answered: the deadline is met. */
  readonly established: () => void;
}

/** Settings; times in milliseconds. */
export interface ConnectorSettings {
  readonly access: AccessSource;
  readonly port: number;
  readonly deadlineMs: number;
  readonly connectMs: number;
  readonly maxConnections: number;
}

/** How one piece of work is done. */
export interface WorkOptions {
  readonly purpose: ChannelPurpose;
  /** Ends the work from outside. */
  readonly signal?: AbortSignal;
  /** The work is meant to last: the deadline holds until `established` only. */
  readonly lasting?: boolean;
}

const serverGraceMs = 500;

interface Attempt {
  readonly address: string;
  readonly material: TlsMaterial;
  readonly options: WorkOptions;
  readonly signal: AbortSignal;
  /** In `performance.now()` milliseconds. */
  readonly until: number;
  readonly endDeadline: () => void;
}

/** Brings work to a node: chooses the route, connects, keeps the deadline, translates failures. */
export class Connector {
  readonly #settings: ConnectorSettings;
  readonly #pool: ChannelPool;
  readonly #routing: Routing;
  readonly #closing = new AbortController();
  #material: TlsMaterial | undefined;

  constructor(settings: ConnectorSettings) {
    this.#settings = settings;
    this.#pool = new ChannelPool(settings.maxConnections);
    this.#routing = new Routing(settings.port);
  }

  /** Ends all work with `unreachable` and closes all connections. */
  close(): void {
    this.#closing.abort(new CallFailure('unreachable', 'the client is closed'));
    this.#pool.closeAll();
  }

  /**
   * Does work on a node, on the first route that connects, within one deadline.
   *
   * @throws TalosError and nothing else
   */
  async work<Result>(
    address: string,
    options: WorkOptions,
    work: (connected: Connected) => Promise<Result>,
  ): Promise<Result> {
    const { deadlineMs } = this.#settings;
    const expiry = new AbortController();
    const expire = () => {
      const text = `no answer within ${deadlineMs} ms`;
      expiry.abort(new CallFailure('deadline', text));
    };
    const timer = setTimeout(expire, deadlineMs);
    const outside = options.signal === undefined ? [] : [options.signal];
    const signal = AbortSignal.any([expiry.signal, this.#closing.signal, ...outside]);
    try {
      signal.throwIfAborted();
      const access = await this.#access(signal);
      const attempt = {
        address,
        material: this.#materialOf(access),
        options,
        signal,
        until: performance.now() + deadlineMs,
        endDeadline: () => clearTimeout(timer),
      };
      return await this.#overRoutes(access, attempt, work);
    } catch (error) {
      throw talosError(error, address, outside);
    } finally {
      clearTimeout(timer);
    }
  }

  async #access(signal: AbortSignal): Promise<TalosAccess> {
    try {
      return await whileRunning(this.#settings.access.current(), signal);
    } catch (error) {
      signal.throwIfAborted();
      const text = error instanceof Error ? error.message : String(error);
      throw new CallFailure('unauthenticated', `no usable Talos credentials: ${text}`);
    }
  }

  #materialOf(access: TalosAccess): TlsMaterial {
    if (this.#material?.fingerprint !== materialFingerprint(access)) {
      try {
        this.#material = tlsMaterial(access);
      } catch {
        throw new CallFailure(
          'unauthenticated',
          'the certificates or the key of the Talos access cannot be used; check the talosconfig',
        );
      }
    }
    return this.#material;
  }

  async #overRoutes<Result>(
    access: TalosAccess,
    attempt: Attempt,
    work: (connected: Connected) => Promise<Result>,
  ): Promise<Result> {
    const routes = this.#routing.routesTo(attempt.address, access);
    if (routes.length === 0) {
      throw new CallFailure('unreachable', 'is neither an IP address nor a host name');
    }
    const failures: CallFailure[] = [];
    for (const [index, route] of routes.entries()) {
      try {
        return await this.#overRoute(route, routes.length - index, attempt, work);
      } catch (error) {
        if (!(error instanceof CallFailure)) {
          throw error;
        }
        failures.push(onRoute(route, error));
        if (!mayTryAnother(error, route)) {
          throw combined(error.code, failures);
        }
      }
    }
    for (const text of this.#routing.unreadable(access)) {
      const problem = `endpoint ${JSON.stringify(quotedText(text))} is neither host nor host:port`;
      failures.push(new CallFailure('unreachable', problem));
    }
    const hasHung = failures.some((failure) => failure.code === 'deadline');
    throw combined(hasHung ? 'deadline' : 'unreachable', failures);
  }

  async #overRoute<Result>(
    route: Route,
    routesLeft: number,
    attempt: Attempt,
    work: (connected: Connected) => Promise<Result>,
  ): Promise<Result> {
    const { purpose } = attempt.options;
    const loan = this.#pool.borrow(route.endpoint, purpose, attempt.material);
    try {
      return await this.#overLoan(loan, route, routesLeft, attempt, work);
    } catch (error) {
      // A connection that was open may have died long ago: that is no failure of the node's.
      const isStale =
        loan.isReused &&
        !loan.channel.isReady &&
        error instanceof CallFailure &&
        error.code === 'unreachable';
      if (!isStale || attempt.signal.aborted) {
        throw error;
      }
    } finally {
      loan.channel.release();
    }
    const fresh = this.#pool.borrow(route.endpoint, purpose, attempt.material);
    try {
      return await this.#overLoan(fresh, route, routesLeft, attempt, work);
    } finally {
      fresh.channel.release();
    }
  }

  async #overLoan<Result>(
    loan: Loan,
    route: Route,
    routesLeft: number,
    attempt: Attempt,
    work: (connected: Connected) => Promise<Result>,
  ): Promise<Result> {
    const { address, signal, options } = attempt;
    const began = performance.now();
    const stop = new AbortController();
    try {
      await loan.channel.connect(this.#connectBound(attempt, route, routesLeft), signal);
      const metadata = new Metadata();
      if (route.kind === 'forwarded') {
        metadata.set('node', bareAddress(address));
      }
      // A little after our own, which is the one that is to strike: it knows the whole read.
      const left = attempt.until - performance.now() + serverGraceMs;
      const deadline = new Date(Date.now() + left);
      const scope = {
        metadata,
        signal: AbortSignal.any([signal, stop.signal]),
        ...(options.lasting === true ? {} : { deadline }),
      };
      const established = () => {
        attempt.endDeadline();
        this.#routing.worked(address, route);
      };
      const result = await work({ channel: loan.channel, scope, route, established });
      this.#routing.worked(address, route);
      return result;
    } catch (error) {
      this.#judge(loan.channel, route, error, address, began);
      throw error;
    } finally {
      stop.abort(new CallFailure('unreachable', 'another read of the node failed'));
    }
  }

  /** After a failure: whether this route keeps its place, and this connection its use. */
  #judge(channel: Channel, route: Route, error: unknown, address: string, began: number): void {
    const code = error instanceof CallFailure ? error.code : undefined;
    if (code === 'unreachable' || code === 'deadline' || !channel.isReady) {
      this.#routing.failed(address, route);
    }
    // Where others were answered over it meanwhile, it is the node behind it that is silent.
    const isSilent = code === 'deadline' && channel.lastAnswer < began;
    if (isSilent || !channel.isReady) {
      this.#pool.retire(channel);
    }
  }

  /** An even share of what is left for each route, so that one that swallows packets leaves time for the others. */
  #connectBound(attempt: Attempt, route: Route, routesLeft: number): number {
    const left = Math.max(1, attempt.until - performance.now());
    const share = route.kind === 'direct' ? left : left / routesLeft;
    return Math.min(this.#settings.connectMs, share);
  }
}

/** Where nothing was asked yet, or the control plane could not connect, the next route may. */
function mayTryAnother(failure: CallFailure, route: Route): boolean {
  return failure.beforeConnection || (route.kind === 'forwarded' && failure.code === 'unreachable');
}

function onRoute(route: Route, failure: CallFailure): CallFailure {
  const via = `through ${endpointText(route.endpoint)}: `;
  const text = route.kind === 'direct' ? failure.message : `${via}${failure.message}`;
  return new CallFailure(failure.code, text);
}

function combined(code: TalosErrorCode, failures: readonly CallFailure[]): CallFailure {
  return new CallFailure(code, failures.map((failure) => failure.message).join('; '));
}

function bareAddress(address: string): string {
  return address.replace(/^\[(.*)\]$/, '$1');
}

function whileRunning<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function talosError(error: unknown, address: string, outside: readonly AbortSignal[]): TalosError {
  if (error instanceof CallFailure) {
    return new TalosError(error.code, address, `${address}: ${error.message}`);
  }
  if (outside.some((signal) => signal.aborted)) {
    return new TalosError('unreachable', address, `${address}: the read was given up`);
  }
  const text = quotedText(error instanceof Error ? error.message : String(error));
  return new TalosError('protocol', address, `${address}: ${text}`, { cause: error });
}
