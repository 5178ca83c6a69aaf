import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes TCP connections on to a port of 127.0.0.1, counts them, and holds or cuts them when told to. */
export type TcpRelay = {
  readonly port: number;
  /** Connections accepted since the start. */
  readonly accepted: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Where new connections lead; may be changed at any time. */
  targetPort: number;
  /** Keeps what the server says on the connections that are open from the client. */
  hold(): void;
  /** Resets every open connection, as a load balancer does that is restarted. */
  cut(): void;
  stop(): Promise<void>;
};

/** Starts a relay on a free port of 127.0.0.1. */
export async function startTcpRelay(targetPort: number): Promise<TcpRelay> {
  const open = new Map<Socket, Socket>();
  let accepted = 0;
  const server = createServer((client) => {
    accepted += 1;
    const upstream = connect(relay.targetPort, '127.0.0.1');
    open.set(client, upstream);
    // Broken connections are what a relay is there for; the other side is closed below.
    client.on('error', () => undefined);
    upstream.on('error', () => undefined);
    client.pipe(upstream).pipe(client);
    client.on('close', () => {
      open.delete(client);
      upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const relay: TcpRelay = {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return accepted;
    },
    get open() {
      return open.size;
    },
    targetPort,
    hold() {
      for (const [client, upstream] of open) upstream.unpipe(client);
    },
    cut() {
      for (const client of open.keys()) client.resetAndDestroy();
    },
    async stop() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      relay.cut();
      await closed;
    },
  };
  return relay;
}
