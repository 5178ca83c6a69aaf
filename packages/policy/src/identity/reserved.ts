import type { Octets } from '../octets.ts';
import { type Cidr, contains, parseCidr, unmapCidr } from './cidr.ts';
import { foldDnsName, isLdhName } from './dns-name.ts';
import { unmapAddress } from './ip-address.ts';

/** Loopback, link-local, multicast and unspecified addresses (RFC 6890; RFC 4291, section 2.4). */
const reservedEverywhere: readonly Cidr[] = [
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '0.0.0.0/32',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
  '::/128',
].flatMap((text) => parseCidr(text) ?? []);

/** What a cluster reserves, ready for comparing. */
export interface Reserved {
  readonly dnsNames: ReadonlySet<string>;
  readonly ranges: readonly Cidr[];
}

/**
 * Prepares the reserved entries of a cluster. A word that is neither a name nor an address nor a
 * range would silently protect nothing, so that it makes the whole list unusable: a problem is
 * returned instead. Addresses may stand among the names, because the host of an endpoint may be one.
 */
export function prepareReserved(
  dnsNames: readonly string[],
  addresses: readonly string[],
): Reserved | { readonly problem: string } {
  const names = new Set<string>();
  const ranges: Cidr[] = [];
  for (const name of dnsNames) {
    const folded = foldDnsName(name);
    const range = parseCidr(name);
    if (range !== undefined) ranges.push(unmapCidr(range));
    // No request can name a host with an underscore, so that it needs no protection.
    if (isLdhName(folded.replaceAll('_', 'a'))) names.add(folded);
    else if (range === undefined) return { problem: name };
  }
  for (const address of addresses) {
    const range = parseCidr(address);
    if (range === undefined) return { problem: address };
    ranges.push(unmapCidr(range));
  }
  return { dnsNames: names, ranges };
}

/** Whether a folded DNS name belongs to no node: the cluster's own, or one of the API server. */
export function isReservedName(reserved: Reserved, folded: string): boolean {
  return (
    folded === 'localhost' ||
    folded === 'kubernetes' ||
    folded.startsWith('kubernetes.') ||
    reserved.dnsNames.has(folded)
  );
}

/** Whether an address belongs to no node, in its own form or in the one it is mapped from. */
export function isReservedAddress(reserved: Reserved, address: Octets): boolean {
  const forms = new Set([address, unmapAddress(address)]);
  const inRange = (range: Cidr): boolean => [...forms].some((form) => contains(range, form));
  return reservedEverywhere.some(inRange) || reserved.ranges.some(inRange);
}
