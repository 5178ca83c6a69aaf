/** A DNS name as it is compared: ASCII letters in lower case, one final dot dropped. */
export function foldDnsName(name: string): string {
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  if (!/[A-Z]/.test(bare)) return bare;
  // Only ASCII: Unicode case folding would make the Kelvin sign a letter k.
  return bare.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const longestName = 253;
const ldhLabel = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/**
 * Whether a folded name is made of LDH labels only (RFC 5890, section 2.3.1): 1 to 63 letters,
 * digits and hyphens each, no hyphen at either end, 253 characters in all.
 */
export function isLdhName(folded: string): boolean {
  return folded.length <= longestName && folded.split('.').every((label) => ldhLabel.test(label));
}
