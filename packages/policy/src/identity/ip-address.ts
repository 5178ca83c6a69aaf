import { hexOf, type Octets } from '../octets.ts';

/** Prefix of the sixteen octets of an IPv4-mapped address (RFC 4291, section 2.5.5.2). */
const mappedPrefix: Octets = '\0\0\0\0\0\0\0\0\0\0\xff\xff';

/** The octets of an address, as a string that can be a key. */
export function addressOf(octets: readonly number[]): Octets {
  return String.fromCharCode(...octets);
}

/** The four octets inside an IPv4-mapped address; any other address as it is. */
export function unmapAddress(address: Octets): Octets {
  return address.length === 16 && address.startsWith(mappedPrefix) ? address.slice(12) : address;
}

/**
 * The octets of an address that is written as text: four decimal numbers without leading zeros, or
 * any form of RFC 4291, section 2.2. Undefined for anything else, a zone or a prefix included.
 */
export function parseIpAddress(text: string): Octets | undefined {
  // The longest address has 45 characters; nothing longer is worth splitting.
  if (text.length > 45) return undefined;
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): Octets | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let address = '';
  for (const part of parts) {
    const octet = decimalOctet(part);
    if (octet === undefined) return undefined;
    address += String.fromCharCode(octet);
  }
  return address;
}

/** A number of 0 to 255 in decimal digits without a leading zero, which some read as octal. */
function decimalOctet(text: string): number | undefined {
  if (text.length === 0 || text.length > 3 || (text.length > 1 && text[0] === '0'))
    return undefined;
  let octet = 0;
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    octet = octet * 10 + digit;
  }
  return octet <= 255 ? octet : undefined;
}

function parseIpv6(text: string): Octets | undefined {
  const halves = text.split('::');
  const [head = '', tail] = halves;
  if (halves.length > 2) return undefined;
  const left = parseGroups(head, tail === undefined);
  if (tail === undefined) return left?.length === 16 ? left : undefined;
  const right = parseGroups(tail, true);
  if (left === undefined || right === undefined) return undefined;
  // The two colons stand for one group of zeros or more (RFC 4291, section 2.2).
  const missing = 16 - left.length - right.length;
  return missing >= 2 ? left + '\0'.repeat(missing) + right : undefined;
}

const hexGroup = /^[0-9A-Fa-f]{1,4}$/;

/** Groups between colons, two octets each; the last may be a whole IPv4 address. */
function parseGroups(text: string, mayEndInIpv4: boolean): Octets | undefined {
  if (text === '') return '';
  const groups = text.split(':');
  let octets = '';
  for (const [index, group] of groups.entries()) {
    if (hexGroup.test(group)) {
      const value = Number.parseInt(group, 16);
      octets += String.fromCharCode(value >> 8, value & 0xff);
      continue;
    }
    const embedded = mayEndInIpv4 && index === groups.length - 1 ? parseIpv4(group) : undefined;
    if (embedded === undefined) return undefined;
    octets += embedded;
  }
  return octets;
}

/**
 * An address in canonical text (RFC 5952): lower case, no leading zeros, the longest run of zero
 * groups as two colons, an IPv4-mapped one with its dotted end. Octets that are no address are
 * written in hex.
 */
export function formatIpAddress(address: Octets): string {
  if (address.length === 4) return dotted(address);
  if (address.length !== 16) return `0x${hexOf(address)}`;
  if (address.startsWith(mappedPrefix)) return `::ffff:${dotted(address.slice(12))}`;
  const groups: number[] = [];
  for (let index = 0; index < 16; index += 2) {
    groups.push((address.charCodeAt(index) << 8) | address.charCodeAt(index + 1));
  }
  const run = longestZeroRun(groups);
  if (run.length < 2) return groupText(groups, 0, 8);
  return `${groupText(groups, 0, run.start)}::${groupText(groups, run.start + run.length, 8)}`;
}

function dotted(address: Octets): string {
  let text = `${address.charCodeAt(0)}`;
  for (let index = 1; index < 4; index++) text += `.${address.charCodeAt(index)}`;
  return text;
}

function groupText(groups: readonly number[], start: number, end: number): string {
  let text = '';
  for (let index = start; index < end; index++) {
    text += (index === start ? '' : ':') + (groups[index] ?? 0).toString(16);
  }
  return text;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let index = 0; index <= groups.length; index++) {
    if (groups[index] === 0) continue;
    // The first of equally long runs is the one that is shortened.
    if (index - start > best.length) best = { start, length: index - start };
    start = index + 1;
  }
  return best;
}
