import { isIP, isIPv6, SocketAddress } from 'node:net';

/** One address to dial. */
export interface Endpoint {
  /** Host name in lower case, or an IP address in canonical text without brackets. */
  readonly host: string;
  readonly port: number;
}

const label = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/;

function parsePort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function parseHost(text: string): string | undefined {
  // isIP takes zones, which name an interface of this machine and mean nothing in a configuration.
  if (text.includes('%')) {
    return undefined;
  }
  const family = isIP(text);
  if (family !== 0) {
    return new SocketAddress({ address: text, family: family === 6 ? 'ipv6' : 'ipv4' }).address;
  }
  const name = text.toLowerCase().replace(/\.$/, '');
  // A last label of digits only would be an IPv4 address to some resolvers and a name to others.
  const labels = name.split('.');
  const isName =
    name.length <= 253 &&
    labels.every((part) => part.length <= 63 && label.test(part)) &&
    !/^\d+$/.test(labels.at(-1) ?? '');
  return isName ? name : undefined;
}

/**
 * Reads an endpoint as talosconfig spells it: `host`, `host:port`, a bare or bracketed IPv6
 * address, or `https://host[:port]` (443 unless a port is given).
 *
 * Answers undefined for anything else, paths and user names included.
 */
export function parseEndpoint(text: string, defaultPort: number): Endpoint | undefined {
  const url = /^https:\/\/([^/?#@]+)\/?$/i.exec(text);
  if (url?.[1] !== undefined) {
    return parseEndpoint(url[1], 443);
  }
  const bracketed = /^\[([^\]]+)\](?::(.+))?$/.exec(text);
  const [hostText, portText] =
    bracketed !== null
      ? [isIPv6(bracketed[1] ?? '') ? bracketed[1] : undefined, bracketed[2]]
      : isIPv6(text)
        ? [text, undefined]
        : splitAtColon(text);
  const host = hostText === undefined ? undefined : parseHost(hostText);
  const port = portText === undefined ? defaultPort : parsePort(portText);
  return host === undefined || port === undefined ? undefined : { host, port };
}

function splitAtColon(text: string): [string, string | undefined] {
  const at = text.indexOf(':');
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** `host:port`, with brackets around an IPv6 address. */
export function endpointText(endpoint: Endpoint): string {
  const host = isIPv6(endpoint.host) ? `[${endpoint.host}]` : endpoint.host;
  return `${host}:${endpoint.port}`;
}

/** The gRPC target of an endpoint: an address is dialled as it is, a name goes through DNS. */
export function grpcTarget(endpoint: Endpoint): string {
  const scheme = { 0: 'dns', 4: 'ipv4', 6: 'ipv6' }[isIP(endpoint.host)] ?? 'dns';
  return `${scheme}:${endpointText(endpoint)}`;
}
