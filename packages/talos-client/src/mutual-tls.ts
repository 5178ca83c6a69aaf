import { createHash } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { CallCredentials, ChannelCredentials } from '@grpc/grpc-js';
import type { TalosAccess } from './talos-client.ts';

/** TLS material made ready once, and a fingerprint that tells whether it is still the same. */
export interface TlsMaterial {
  readonly fingerprint: string;
  readonly context: SecureContext;
}

/** The fingerprint of an access: it changes with any of CA, certificate and key, and only with them. */
export function materialFingerprint(access: TalosAccess): string {
  return createHash('sha256')
    .update(JSON.stringify([access.ca, access.crt, access.key]))
    .digest('hex');
}

/** Makes TLS material ready. Throws what OpenSSL throws where PEM texts are unusable. */
export function tlsMaterial(access: TalosAccess): TlsMaterial {
  const { ca, crt: cert, key } = access;
  return {
    fingerprint: materialFingerprint(access),
    // Every supported Talos speaks TLS 1.3, and the newest nothing older.
    context: createSecureContext({ ca, cert, key, minVersion: 'TLSv1.3' }),
  };
}

/** An error of a socket or of TLS, as Node and OpenSSL describe it. */
export type ConnectionError = NodeJS.ErrnoException & { readonly reason?: string };

/** How far the last connection of a channel came, for telling why there is none. */
export class ConnectionRecord {
  /** `tls`: our side finished the handshake; the server may still refuse our certificate. */
  phase: 'none' | 'tcp' | 'tls' = 'none';
  error: ConnectionError | undefined;
  readonly #sockets = new Set<TLSSocket>();
  #isOver = false;

  /** The channel was given up: a connection that comes late must not be used. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Follows a socket until it closes. */
  follow(socket: TLSSocket): void {
    this.#sockets.add(socket);
    socket.on('error', (error: ConnectionError) => {
      this.error ??= error;
    });
    socket.on('close', () => this.#sockets.delete(socket));
  }

  /** Ends what is still open, for peers that no longer answer a polite end. */
  end(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }
}

function identityError(host: string, certificate: PeerCertificate): Error | undefined {
  // Without a subject alternative name Node would fall back to the common name.
  if (certificate.subjectaltname === undefined) {
    return Object.assign(new Error('the server certificate has no subject alternative names'), {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  }
  return checkServerIdentity(host, certificate);
}

/** An address that is dialled has no server name to send (RFC 6066 section 3 allows names only). */
function serverName(host: string): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

/**
 * Mutual TLS to one host, verified against exactly the host that is dialled.
 *
 * In the place of grpc-js's own credentials, because those send an address as server name and keep
 * of a failed handshake nothing but its text.
 */
export class MutualTlsCredentials extends ChannelCredentials {
  readonly #material: TlsMaterial;
  readonly #host: string;
  readonly #record: ConnectionRecord;

  constructor(material: TlsMaterial, host: string, record: ConnectionRecord) {
    super();
    this.#material = material;
    this.#host = host;
    this.#record = record;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(): ReturnType<ChannelCredentials['_createSecureConnector']> {
    const callCredentials = CallCredentials.createEmpty();
    return {
      connect: async (socket) => ({ socket: await this.#handshake(socket), secure: true }),
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => callCredentials,
      destroy: () => {},
    };
  }

  #handshake(socket: Socket): Promise<TLSSocket> {
    const record = this.#record;
    if (record.isOver) {
      return Promise.reject(new Error('no longer needed'));
    }
    record.phase = 'tcp';
    record.error = undefined;
    return new Promise((resolve, reject) => {
      const tlsSocket = connect({
        socket,
        secureContext: this.#material.context,
        host: this.#host,
        ...serverName(this.#host),
        ALPNProtocols: ['h2'],
        checkServerIdentity: (_, certificate) => identityError(this.#host, certificate),
      });
      record.follow(tlsSocket);
      tlsSocket.once('secureConnect', () => {
        record.phase = 'tls';
        if (tlsSocket.alpnProtocol === 'h2') {
          resolve(tlsSocket);
        } else {
          tlsSocket.destroy(
            Object.assign(new Error('the server does not speak HTTP/2'), { code: 'ERR_ALPN' }),
          );
        }
      });
      tlsSocket.once('error', reject);
      tlsSocket.once('close', () => reject(new Error('closed during the TLS handshake')));
    });
  }
}
