import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect } from 'node:tls';

/** Result of a handshake: the certificate that was shown, or why there was none. */
export type Handshake =
  | { readonly kind: 'served'; readonly certificate: X509Certificate }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/**
 * Shakes hands without verifying anything and hangs up. Never rejects.
 *
 * A kubelet that waits for its serving certificate ends the handshake with alert 80, which Node reports as
 * `ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR`.
 */
export function tlsHandshake(address: string, port: number, timeoutMs = 3_000): Promise<Handshake> {
  return new Promise((done) => {
    const socket = connect({
      host: address,
      port,
      rejectUnauthorized: false,
      ...(isIP(address) === 0 ? { servername: address } : {}),
    });
    const failed = (code: string, message: string): void => {
      socket.destroy();
      done({ kind: 'failed', code, message });
    };
    socket.setTimeout(timeoutMs, () => failed('ETIMEDOUT', `${address}:${port} did not answer.`));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      failed(error.code ?? 'UNKNOWN', error.message),
    );
    socket.once('secureConnect', () => {
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      done({ kind: 'served', certificate: new X509Certificate(raw) });
    });
  });
}
