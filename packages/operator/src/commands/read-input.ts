import { createReadStream } from 'node:fs';
import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml';
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
  try {
    // Some files have no size and no end, such as devices: what is read is counted.
    return await boundedText(path === '-' ? io.stdin() : createReadStream(path), path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new UsageError(
      code === 'ENOENT'
        ? `${path || 'The path ""'} does not exist; give the path of a file, or - for standard input.`
        : `${path} cannot be read (${code}); give the path of a file that can, or - for standard input.`,
    );
  }
}

async function boundedText(source: AsyncIterable<unknown>, path: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk as Buffer);
    length += bytes.length;
    if (length > maxBytes) {
      throw new UsageError(`${path} is larger than 64 MiB; give a smaller file.`);
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Most aliases in a YAML document: resolving each walks the document. */
const maxAliases = 100;

/**
 * Parses YAML or JSON of one document.
 *
 * @throws UsageError naming the file and, where the syntax is wrong, the line
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
  const lineCounter = new LineCounter();
  // The library's own messages with lines, and its own look for repeated keys, take quadratic time.
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const problem = document.errors[0] ?? structureProblem(document);
  if (problem !== undefined) {
    const { line, col } = lineCounter.linePos(problem.pos[0]);
    const [sentence = ''] = problem.message.split('\n');
    throw new UsageError(
      `${path} is neither YAML nor JSON of one document: ${sentence.replace(/[.:]$/, '')} at line ${line}, column ${col}.`,
    );
  }
  try {
    return document.toJS({ maxAliasCount: maxAliases });
  } catch {
    throw new UsageError(
      `${path} has YAML aliases that cannot be resolved; write out what they stand for.`,
    );
  }
}

interface Problem {
  readonly message: string;
  /** Where it starts and ends, in characters. */
  readonly pos: readonly [number, number];
}

/** The first repeated key, or the alias that is one too many. */
function structureProblem(document: Document.Parsed): Problem | undefined {
  let problem: Problem | undefined;
  let aliases = 0;
  const stop = (message: string, range: readonly number[] | null | undefined) => {
    problem = { message, pos: [range?.[0] ?? 0, range?.[1] ?? 0] };
    return visit.BREAK;
  };
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) return stop('Map keys must be unique', key.range);
        keys.add(key.value);
      }
      return undefined;
    },
    Alias(_, alias) {
      aliases += 1;
      return aliases > maxAliases
        ? stop(`More than ${maxAliases} aliases are not supported`, alias.range)
        : undefined;
    },
  });
  return problem;
}
