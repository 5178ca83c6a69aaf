import { connect } from 'node:net';
import { CallFailure } from './call-failure.ts';
import { type Endpoint, endpointText } from './endpoint.ts';

/**
 * Finds out whether anything accepts TCP connections at an endpoint.
 *
 * grpc-js gives no way to abandon a connection attempt, and tells why one failed in prose only: an
 * address that swallows packets would keep a socket for two minutes per read. So the first look is
 * ours, and is dropped in time.
 *
 * @param milliseconds bound of the attempt, name resolution included
 * @throws CallFailure `unreachable`, before connection
 */
export function probeTcp(
  endpoint: Endpoint,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: endpoint.host, port: endpoint.port });
    const settle = (act: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      act();
    };
    const fail = (cause: string) =>
      settle(() => {
        const text = `cannot connect to ${endpointText(endpoint)} (${cause})`;
        reject(new CallFailure('unreachable', text, { beforeConnection: true }));
      });
    const onAbort = () => settle(() => reject(signal.reason));
    const timer = setTimeout(() => fail('no answer in time'), milliseconds);
    signal.addEventListener('abort', onAbort);
    socket.once('connect', () => settle(resolve));
    // Stays attached: a second error of a destroyed socket must not end the process.
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    if (signal.aborted) {
      onAbort();
    }
  });
}
