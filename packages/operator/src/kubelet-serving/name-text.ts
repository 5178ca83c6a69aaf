import { isIP, SocketAddress } from 'node:net';

/**
 * An IP address in one spelling, so that equal addresses are equal texts (RFC 5952); undefined
 * where the text is no address. An IPv4-mapped address is the IPv4 address: this is for finding
 * out whose an address is, never for permission.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 0 || text.includes('%')) return undefined;
  if (family === 4) return text;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address.toLowerCase();
}

/** A CIDR in one spelling; undefined where the text is none. Host bits are left as they are. */
export function canonicalSubnet(text: string): string | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = text.slice(0, slash);
  const length = text.slice(slash + 1);
  const bits = isIP(address) === 4 ? 32 : 128;
  if (canonicalAddress(address) === undefined || !/^(0|[1-9]\d{0,2})$/.test(length))
    return undefined;
  return Number(length) <= bits ? `${canonicalAddress(address)}/${length}` : undefined;
}

/** A DNS name in one spelling: ASCII lower case, without one final dot (RFC 4343, RFC 1034 3.1). */
export function canonicalName(text: string): string {
  const dropped = text.endsWith('.') ? text.slice(0, -1) : text;
  return dropped.replace(/[A-Z]+/g, (upper) => upper.toLowerCase());
}

/** One spelling for whatever it is, an address or a name. */
export function canonicalHost(text: string): string {
  return canonicalAddress(text) ?? canonicalName(text);
}
