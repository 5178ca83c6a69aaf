import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes TCP connections on to a port, and fails in the ways in which networks fail. */
export interface TcpRelay {
  readonly port: number;
  /** Connections accepted. */
  readonly accepted: number;
  /** Connections over which the client sent anything. */
  readonly used: number;
  /** Connections that are open. */
  readonly open: number;
  /** Swallows everything on the connections that are open, as a peer does that lost its power. */
  freezeOpen(): void;
  /** Resets each open connection when the client next sends anything, as a rebooted peer does. */
  resetOpenOnData(): void;
  /** What is done with new connections. */
  onConnect: 'relay' | 'swallow' | 'close';
  stop(): Promise<void>;
}

/** Starts a relay in front of a port of the loopback interface; 0 where nothing is passed on. */
export async function startTcpRelay(targetPort: number): Promise<TcpRelay> {
  const open = new Set<{ client: Socket; upstream: Socket | undefined; mode: string }>();
  const counts = { accepted: 0, used: 0 };

  const server = createServer((client) => {
    counts.accepted += 1;
    client.on('error', () => {});
    if (relay.onConnect === 'close') {
      client.destroy();
      return;
    }
    const isRelayed = relay.onConnect === 'relay' && targetPort !== 0;
    const upstream = isRelayed ? connect(targetPort, '127.0.0.1') : undefined;
    const connection = { client, upstream, mode: 'relay' };
    open.add(connection);
    client.once('data', () => {
      counts.used += 1;
    });
    client.on('data', (bytes) => {
      if (connection.mode === 'reset') {
        client.resetAndDestroy();
      } else if (connection.mode === 'relay') {
        upstream?.write(bytes);
      }
    });
    client.on('close', () => {
      open.delete(connection);
      upstream?.destroy();
    });
    upstream?.on('error', () => {});
    upstream?.on('data', (bytes) => {
      if (connection.mode === 'relay') {
        client.write(bytes);
      }
    });
    upstream?.on('close', () => {
      if (connection.mode === 'relay') {
        client.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const setMode = (mode: string) => {
    for (const connection of open) {
      connection.mode = mode;
    }
  };
  const relay: TcpRelay = {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return counts.accepted;
    },
    get used() {
      return counts.used;
    },
    get open() {
      return open.size;
    },
    onConnect: 'relay',
    freezeOpen: () => setMode('frozen'),
    resetOpenOnData: () => setMode('reset'),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const { client } of open) {
          client.destroy();
        }
      }),
  };
  return relay;
}
