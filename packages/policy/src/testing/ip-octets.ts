import { isIPv4, isIPv6 } from 'node:net';

function ipv4Octets(text: string): number[] {
  return text.split('.').map(Number);
}

function groupOctets(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return ipv4Octets(group);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/**
 * The 4 or 16 octets of an address, as a SAN holds them. (RFC 5280 4.2.1.6)
 *
 * @throws RangeError if the text is no address
 */
export function ipOctets(text: string): Uint8Array {
  if (isIPv4(text)) return Uint8Array.from(ipv4Octets(text));
  if (!isIPv6(text) || text.includes('%')) throw new RangeError(`${text} is no IP address`);
  const [head = '', tail] = text.split('::');
  const left = groupOctets(head);
  const right = tail === undefined ? [] : groupOctets(tail);
  const gap = new Array<number>(16 - left.length - right.length).fill(0);
  return Uint8Array.from([...left, ...gap, ...right]);
}

/** The IPv4-mapped IPv6 address of an IPv4 address, as text. (RFC 4291 2.5.5.2) */
export function ipv4Mapped(text: string): string {
  return `::ffff:${text}`;
}
