/** A line that is longer than the reader takes. */
export class LineTooLong extends Error {}

const lineFeed = 0x0a;

/**
 * Splits a stream of bytes into its lines, decoded as UTF-8, empty ones left out. Bytes after the
 * last line feed are a line that was cut off and are dropped.
 * @throws LineTooLong as soon as a line exceeds `limit` bytes, without waiting for its end
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<string, void, void> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const hold = (part: Uint8Array): void => {
    size += part.length;
    if (size > limit) throw new LineTooLong(`a line is longer than ${limit} bytes`);
    if (part.length > 0) parts.push(part);
  };
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      hold(chunk.subarray(start, end));
      const line = Buffer.concat(parts).toString('utf8');
      parts.length = 0;
      size = 0;
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    hold(chunk.subarray(start));
  }
}
