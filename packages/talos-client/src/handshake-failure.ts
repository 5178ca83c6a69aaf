import { CallFailure, quotedText } from './call-failure.ts';
import type { ConnectionError, ConnectionRecord } from './mutual-tls.ts';

const socketErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
]);

// How OpenSSL names the alerts of RFC 8446 section 6.2 that are about a certificate or who we are.
const certificateAlert = /ALERT.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR)/;

const hints =
  'check that the talosconfig is of this cluster and not expired, and that the address stands in the certificate of the node';

/** OpenSSL's message begins with an address in memory; its reason says the same each time. */
function reasonOf(error: ConnectionError | undefined): string {
  return error?.reason ?? error?.message ?? 'closed by the server';
}

/**
 * Why a channel did not come to be, from what its connection recorded.
 *
 * Only what is certainly no matter of certificates may be tried by another route; a failure that
 * is not understood counts as one of them.
 */
export function handshakeFailure(record: ConnectionRecord, address: string): CallFailure {
  const { error, phase } = record;
  if (phase === 'none') {
    return new CallFailure('unreachable', `cannot connect to ${address}`, {
      beforeConnection: true,
    });
  }
  const code = error?.code ?? '';
  const text = quotedText(reasonOf(error));
  const isSocketError = error === undefined || socketErrors.has(code);
  if (isSocketError && phase === 'tcp') {
    const message = `${address} closed the connection during the TLS handshake (${text})`;
    return new CallFailure('unreachable', message, { beforeConnection: true });
  }
  if (isSocketError) {
    // The alert that says so is lost where the server's reset overtakes it.
    const message = `${address} closed the connection right after the TLS handshake, as a server does that refuses the client certificate (${text}); ${hints}`;
    return new CallFailure('unauthenticated', message);
  }
  if (code === 'ERR_ALPN' || (code.startsWith('ERR_SSL_') && !certificateAlert.test(code))) {
    return new CallFailure('protocol', `${address} does not speak the Talos API (${text})`);
  }
  const message = `certificate refused at ${address} (${code === '' ? '' : `${code}: `}${text}); ${hints}`;
  return new CallFailure('unauthenticated', message);
}
