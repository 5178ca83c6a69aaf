import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { UsageError } from './exit-code.ts';

/** Parses flags, refusing what is unknown, repeated or positional. */
export function parseFlags<T extends ParseArgsOptionsConfig>(
  command: string,
  args: readonly string[],
  options: T,
) {
  try {
    const { values, tokens } = parseArgs({
      args: [...args],
      options,
      strict: true,
      allowPositionals: false,
      tokens: true,
    });
    const seen = new Set<string>();
    for (const token of tokens) {
      if (token.kind !== 'option') continue;
      if (seen.has(token.name) && options[token.name]?.multiple !== true) {
        throw new UsageError(`--${token.name} is given twice; give it once.`);
      }
      seen.add(token.name);
    }
    return values;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new UsageError(`${line.replace(/\.$/, '')}; see 'ichor ${command} --help'.`);
  }
}

/** One of the values that a flag permits. */
export function oneOf<T extends string>(flag: string, value: string, permitted: readonly T[]): T {
  const found = permitted.find((candidate) => candidate === value);
  if (found === undefined) {
    throw new UsageError(
      `--${flag} is ${JSON.stringify(value)}; it must be ${permitted.join(' or ')}.`,
    );
  }
  return found;
}

/**
 * The name of a namespace. (RFC 1123, section 2.1; Kubernetes `IsDNS1123Label`)
 *
 * @throws UsageError naming the flag
 */
export function namespaceName(flag: string, value: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(value)) {
    throw new UsageError(
      `--${flag} is ${JSON.stringify(value)}; it must be a DNS label of at most 63 characters.`,
    );
  }
  return value;
}
