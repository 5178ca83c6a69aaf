import { execFile } from 'node:child_process';
import { createServer, isIPv6 } from 'node:net';
import { promisify } from 'node:util';

const run = promisify(execFile);
const wayOut =
  'Start it with "npm test", or through: unshare -n -p -f --mount-proc --kill-child COMMAND (with -Ur as an ordinary user)';

type Link = {
  readonly ifname: string;
  readonly linkinfo?: { readonly info_kind?: string };
};

// What a test may have made in its own namespace; everything else leads out of it.
const ownKinds: ReadonlySet<string> = new Set(['bridge', 'veth']);

/**
 * Makes sure that this process is in a network namespace of its own and brings its loopback device up.
 *
 * Nodes need addresses that are not loopback addresses, and control-plane parts listen on them; on the
 * network of the machine that would be reachable from outside and could collide with real ones.
 *
 * @throws Error with one sentence when the network reaches further than this machine or may not be configured.
 */
export async function enterNetwork(): Promise<void> {
  const links = await ipJson<readonly Link[]>(['-details', 'link', 'show']);
  const foreign = links.find(
    ({ ifname, linkinfo }) => ifname !== 'lo' && !ownKinds.has(linkinfo?.info_kind ?? ''),
  );
  const routes = await ipJson<readonly unknown[]>(['route', 'show', 'default']);
  if (foreign !== undefined || routes.length > 0) {
    const what = foreign === undefined ? 'a default route' : `the interface ${foreign.ifname}`;
    throw new Error(
      `The testbed needs a network namespace of its own, and this one has ${what}. ${wayOut}.`,
    );
  }
  await ip(['link', 'set', 'lo', 'up']);
}

/**
 * Gives the loopback device further addresses, each as a host route.
 *
 * @param addresses IPv4 or IPv6 addresses in text form; those that are there already stay.
 */
export async function addAddresses(addresses: readonly string[]): Promise<void> {
  for (const address of new Set(addresses)) {
    if (address.startsWith('127.') || address === '::1') continue;
    const options = isIPv6(address) ? ['/128', 'nodad'] : ['/32'];
    const [prefix = '', ...flags] = options;
    await ip(['address', 'replace', `${address}${prefix}`, 'dev', 'lo', ...flags]);
  }
}

/** A TCP port that is free on 127.0.0.1 at the moment of asking. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(0, '127.0.0.1', done);
  });
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('No TCP port was given.');
  return address.port;
}

async function ipJson<T>(args: readonly string[]): Promise<T> {
  const output = await ip(['-json', ...args]);
  return JSON.parse(output.trim() === '' ? '[]' : output) as T;
}

async function ip(args: readonly string[]): Promise<string> {
  try {
    return (await run('ip', args)).stdout;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') {
      throw new Error('The testbed needs the command "ip": install the package iproute2.');
    }
    throw new Error(
      `The network of this process cannot be configured ("ip ${args.join(' ')}": ${stderr?.trim() ?? code}). ${wayOut}.`,
    );
  }
}
