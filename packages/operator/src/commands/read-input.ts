import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { CommandIo } from './command.ts';
import { UsageError } from './exit-code.ts';

/** Largest input file, in bytes. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Reads a file, or standard input where the name is `-`.
 *
 * @throws UsageError naming the file and what to do
 */
export async function readText(path: string, io: Pick<CommandIo, 'stdin'>): Promise<string> {
  if (path === '-') return io.stdin();
  try {
    const bytes = await readFile(path);
    if (bytes.length > maxBytes) throw new UsageError(`${path} is larger than 64 MiB.`);
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new UsageError(
      code === 'ENOENT'
        ? `${path} does not exist; give the path of a file, or - for standard input.`
        : `${path} cannot be read (${code}).`,
    );
  }
}

/**
 * Parses YAML or JSON of one document.
 *
 * @throws UsageError naming the file and the line
 */
export function parseText(text: string, path: string): unknown {
  // Every JSON text is YAML, but the JSON parser is much faster for large files.
  if (/^\s*[[{]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // It may still be YAML in flow style.
    }
  }
  const document = parseDocument(text, { prettyErrors: true, maxAliasCount: 100 } as never);
  const [problem] = document.errors;
  if (problem !== undefined) {
    const [line = ''] = problem.message.split('\n');
    throw new UsageError(
      `${path} is neither YAML nor JSON of one document: ${line.replace(/[.:]$/, '')}.`,
    );
  }
  return document.toJS({ maxAliasCount: 100 });
}
