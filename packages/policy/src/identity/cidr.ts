import type { Octets } from '../octets.ts';
import { parseIpAddress, unmapAddress } from './ip-address.ts';

/** A range of addresses of one family: all that share the first `bits` bits with `network`. */
export interface Cidr {
  readonly network: Octets;
  readonly bits: number;
}

/**
 * Reads `address/bits`, or an address alone, which is the range of that address. Bits behind the
 * prefix are ignored, as Go's `net.ParseCIDR` does. Undefined for anything else.
 */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const network = parseIpAddress(slash < 0 ? text : text.slice(0, slash));
  if (network === undefined) return undefined;
  const widest = network.length * 8;
  if (slash < 0) return { network, bits: widest };
  const bits = text.slice(slash + 1);
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(bits) || Number(bits) > widest) return undefined;
  return { network, bits: Number(bits) };
}

/** Whether an address is in a range; an address of the other family never is. */
export function contains(range: Cidr, address: Octets): boolean {
  if (range.network.length !== address.length) return false;
  const whole = range.bits >> 3;
  for (let index = 0; index < whole; index++) {
    if (range.network.charCodeAt(index) !== address.charCodeAt(index)) return false;
  }
  const rest = range.bits & 7;
  if (rest === 0) return true;
  const difference = range.network.charCodeAt(whole) ^ address.charCodeAt(whole);
  return difference >> (8 - rest) === 0;
}

/** A range of IPv4-mapped addresses as the IPv4 range it stands for; any other as it is. */
export function unmapCidr(range: Cidr): Cidr {
  const network = unmapAddress(range.network);
  return network.length === range.network.length || range.bits < 96
    ? range
    : { network, bits: range.bits - 96 };
}
