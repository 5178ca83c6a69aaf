import { foldDnsName, formatIpAddress, parseIpAddress, unmapAddress } from '@ichor/policy';

/**
 * An IP address in one spelling, so that equal addresses are equal texts (RFC 5952); undefined
 * where the text is no address. An IPv4-mapped address is the IPv4 address: this is for finding
 * out whose an address is, never for permission.
 */
export function canonicalAddress(text: string): string | undefined {
  const address = parseIpAddress(text);
  return address === undefined ? undefined : formatIpAddress(unmapAddress(address));
}

/** One spelling for whatever it is, an address or a name. */
export function canonicalHost(text: string): string {
  return canonicalAddress(text) ?? foldDnsName(text);
}
