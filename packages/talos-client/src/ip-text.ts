/** Longest run of zero groups, at least two; the first of equals (RFC 5952 section 4.2). */
function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < groups.length; start += 1) {
    let length = 0;
    while (groups[start + length] === 0) {
      length += 1;
    }
    if (length > best.length) {
      best = { start, length };
    }
  }
  return best;
}

function ipv6Text(bytes: Uint8Array): string {
  if (bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255) {
    return `::ffff:${bytes.subarray(12).join('.')}`;
  }
  const groups = Array.from({ length: 8 }, (_, index) => {
    const [high = 0, low = 0] = bytes.subarray(2 * index, 2 * index + 2);
    return high * 256 + low;
  });
  const hex = groups.map((group) => group.toString(16));
  const { start, length } = longestZeroRun(groups);
  return start === -1
    ? hex.join(':')
    : `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

/**
 * Canonical text of an address of 4 or 16 bytes (RFC 5952); an IPv4-mapped one as `::ffff:a.b.c.d`.
 *
 * Answers undefined for any other length: 16 bytes and more is an IPv6 address with a zone.
 */
export function ipText(bytes: Uint8Array): string | undefined {
  if (bytes.length === 4) {
    return bytes.join('.');
  }
  return bytes.length === 16 ? ipv6Text(bytes) : undefined;
}
