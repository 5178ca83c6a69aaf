import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  type Pair,
  parseAllDocuments,
  visit,
  type YAMLMap,
} from 'yaml';
import { encodeYaml } from './encode.ts';

/** A YAML stream as values, one per document; an empty document is null. */
export type YamlStream =
  | { readonly kind: 'read'; readonly documents: readonly unknown[] }
  | { readonly kind: 'problem'; readonly sentence: string };

/** Fields to set, a mapping of mappings down to scalars; `undefined` takes a field away. */
export type FieldEdits = { readonly [key: string]: string | boolean | undefined | FieldEdits };

// Whole numbers become big integers, since a double would make different numbers equal. Merge keys are
// followed, as Talos does. The library's own messages with lines, and its own look for repeated keys, take time that
// grows with the square of the length.
const options = {
  intAsBigInt: true,
  logLevel: 'error',
  merge: true,
  prettyErrors: false,
  uniqueKeys: false,
} as const;

/** Most aliases that are resolved, so that a few nested ones cannot fill the memory. */
const maxAliases = 100;

/** Reads a stream. A key that stands twice, an alias without its anchor, and the like are problems. */
export function readYamlStream(text: string): YamlStream {
  const lineCounter = new LineCounter();
  const documents = parsed(text, lineCounter);
  const fault = documents.map((one) => one.errors[0] ?? repeatedKey(one)).find((one) => one);
  if (fault !== undefined) {
    const { line, col } = lineCounter.linePos(fault.pos[0]);
    const [what = ''] = fault.message.split('\n');
    return {
      kind: 'problem',
      sentence: `${what.replace(/[.:]$/, '')} at line ${line}, column ${col}`,
    };
  }
  try {
    return {
      kind: 'read',
      documents: documents.map((one) => one.toJS({ maxAliasCount: maxAliases })),
    };
  } catch {
    return { kind: 'problem', sentence: 'it has aliases that cannot be resolved' };
  }
}

interface Fault {
  readonly message: string;
  /** Where it starts and ends, in characters. */
  readonly pos: readonly [number, number];
}

/** The first key that stands twice in its mapping. */
function repeatedKey(document: Document.Parsed): Fault | undefined {
  let fault: Fault | undefined;
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value) && key.value !== '<<') {
          const [start = 0, end = 0] = key.range ?? [];
          fault = { message: 'Map keys must be unique', pos: [start, end] };
          return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return fault;
}

/**
 * Edits one document of a stream in place: every byte that does not spell an edited field stays, comments and
 * layout included. Undefined where the text spells a field in a way that is not edited, such as through an alias;
 * the caller reads the result again and compares.
 *
 * @param index which document, counted from 0
 */
export function editYamlDocument(
  text: string,
  index: number,
  edits: FieldEdits,
): string | undefined {
  const document = parsed(text)[index];
  if (document === undefined || !isMap(document.contents)) return undefined;
  const splices: Splice[] = [];
  const style: TextStyle = { text, eol: text.includes('\r\n') ? '\r\n' : '\n', step: stepOf(text) };
  if (!editMap(document.contents, undefined, edits, style, splices)) return undefined;
  return splices
    .toSorted((a, b) => b.start - a.start)
    .reduce((edited, { start, end, insert }) => {
      return edited.slice(0, start) + insert + edited.slice(end);
    }, text);
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly insert: string;
}

interface TextStyle {
  readonly text: string;
  readonly eol: string;
  /** Blanks per level. */
  readonly step: number;
}

function parsed(text: string, lineCounter?: LineCounter): readonly Document.Parsed[] {
  const documents = parseAllDocuments(
    text,
    lineCounter === undefined ? options : { ...options, lineCounter },
  );
  return Array.isArray(documents) ? documents : [];
}

function stepOf(text: string): number {
  return /^[\w.-]+:[ \t]*(?:#.*)?\r?\n( +)[\w"']/m.exec(text)?.[1]?.length ?? 2;
}

/** Edits a mapping; false where that is not possible. `parent` is the pair that holds it. */
function editMap(
  map: YAMLMap,
  parent: Pair | undefined,
  edits: FieldEdits,
  style: TextStyle,
  splices: Splice[],
): boolean {
  const missing: Record<string, unknown> = {};
  for (const [key, edit] of Object.entries(edits)) {
    const pair = map.items.find((one) => isScalar(one.key) && one.key.value === key);
    if (pair === undefined) {
      if (edit === undefined) return false;
      missing[key] = edit;
    } else if (edit === undefined) {
      if (!removePair(map, pair, parent, style, splices)) return false;
    } else if (!editPair(map, pair, edit, style, splices)) return false;
  }
  return Object.keys(missing).length === 0 || insertPairs(map, parent, missing, style, splices);
}

function editPair(
  map: YAMLMap,
  pair: Pair,
  edit: string | boolean | FieldEdits,
  style: TextStyle,
  splices: Splice[],
): boolean {
  const { value } = pair;
  if (typeof edit === 'object') {
    if (isMap(value) && value.items.length > 0) {
      return editMap(value, pair, edit, style, splices);
    }
    return map.flow === true
      ? fillEmptyInFlow(pair, edit, style, splices)
      : fillEmpty(pair, edit, style, splices);
  }
  if (!isScalar(value) || !isOneLine(value.type)) return false;
  const [start, end] = value.range ?? [];
  if (start === undefined || end === undefined || start === end) return false;
  splices.push({ start, end, insert: scalarText(edit) });
  return true;
}

/** Gives an empty mapping or a null its first fields, in block style below the key. */
function fillEmpty(pair: Pair, fields: object, style: TextStyle, splices: Splice[]): boolean {
  if (isAlias(pair.value) || !isScalar(pair.key)) return false;
  const [keyStart, keyEnd] = pair.key.range ?? [];
  if (keyStart === undefined || keyEnd === undefined) return false;
  const [empty] =
    /^:[ \t]*(?:\{[ \t]*\}|~|null)?(?=[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$))/.exec(
      style.text.slice(keyEnd),
    ) ?? [];
  const column = columnOf(keyStart, style);
  if (empty === undefined || column === undefined) return false;
  const end = keyEnd + empty.length;
  const lines = blockLines(fields, column + style.step, style);
  splices.push({ start: keyEnd, end, insert: `:${style.eol}${lines.trimEnd()}` });
  return true;
}

/** The same inside of braces, where everything stays on its line. */
function fillEmptyInFlow(pair: Pair, fields: object, style: TextStyle, splices: Splice[]): boolean {
  if (isAlias(pair.value) || !isScalar(pair.key) || !pair.key.range) return false;
  const [, keyEnd] = pair.key.range;
  const [given = ''] = /^:\s*(?:\{\s*\}|~|null)?(?=\s*[,}])/.exec(style.text.slice(keyEnd)) ?? [];
  const end = keyEnd + given.length;
  splices.push({ start: keyEnd, end, insert: `: { ${flowText(fields)} }` });
  return true;
}

function insertPairs(
  map: YAMLMap,
  parent: Pair | undefined,
  fields: object,
  style: TextStyle,
  splices: Splice[],
): boolean {
  const [mapStart] = map.range ?? [];
  if (mapStart === undefined) return false;
  if (map.flow === true) {
    const start = mapStart + 1;
    splices.push({ start, end: start, insert: ` ${flowText(fields)},` });
    return true;
  }
  const first = map.items[0]?.key;
  const column = isScalar(first) && first.range ? columnOf(first.range[0], style) : undefined;
  if (!isScalar(first) || !first.range || column === undefined) return false;
  // Right below the key that holds the mapping: a comment above its first field stays with that field.
  const start =
    parent !== undefined && isScalar(parent.key) && parent.key.range
      ? lineEnd(parent.key.range[1], style.text)
      : lineStart(first.range[0], style.text);
  splices.push({ start, end: start, insert: blockLines(fields, column, style) });
  return true;
}

function removePair(
  map: YAMLMap,
  pair: Pair,
  parent: Pair | undefined,
  style: TextStyle,
  splices: Splice[],
): boolean {
  const { key, value } = pair;
  if (!isScalar(key) || !key.range || !isScalar(value) || !value.range) return false;
  const { text } = style;
  if (map.flow === true) {
    const after = /^\s*,\s?/.exec(text.slice(value.range[1]))?.[0] ?? '';
    const before = after === '' ? (/,\s*$/.exec(text.slice(0, key.range[0]))?.[0] ?? '') : '';
    splices.push({
      start: key.range[0] - before.length,
      end: value.range[1] + after.length,
      insert: '',
    });
    return true;
  }
  const column = columnOf(key.range[0], style);
  if (column === undefined) return false;
  const start = lineStart(key.range[0], text);
  const end = lineEnd(Math.max(value.range[1] - 1, key.range[1]), text);
  if (map.items.length > 1) {
    splices.push({ start, end, insert: '' });
    return true;
  }
  const parentEnd =
    parent !== undefined && isScalar(parent.key) ? parent.key.range?.[1] : undefined;
  // An empty mapping is spelled out, because nothing at all would be a null.
  if (parentEnd !== undefined && /^:\s*$/.test(text.slice(parentEnd, start))) {
    splices.push({ start: parentEnd, end, insert: `: {}${style.eol}` });
  } else splices.push({ start, end, insert: `${' '.repeat(column)}{}${style.eol}` });
  return true;
}

function isOneLine(type: string | null | undefined): boolean {
  return type === 'PLAIN' || type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE';
}

/** The column of a place that only blanks stand before on its line. */
function columnOf(offset: number, { text }: TextStyle): number | undefined {
  const before = text.slice(lineStart(offset, text), offset);
  return /^ *$/.test(before) ? before.length : undefined;
}

function lineStart(offset: number, text: string): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** The place after the line break that ends the line of this offset. */
function lineEnd(offset: number, text: string): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

function blockLines(fields: object, column: number, { eol, step }: TextStyle): string {
  return encodeYaml([fields])
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [blanks = ''] = /^ */.exec(line) ?? [];
      return ' '.repeat(column + (blanks.length / 2) * step) + line.trimStart() + eol;
    })
    .join('');
}

function scalarText(value: string | boolean): string {
  return encodeYaml([{ value }]).slice('value: '.length).trimEnd();
}

/** Fields in flow style, without the braces around them. */
function flowText(fields: object): string {
  return Object.entries(fields)
    .map(([key, value]) =>
      typeof value === 'object'
        ? `${key}: { ${flowText(value)} }`
        : `${key}: ${JSON.stringify(value)}`,
    )
    .join(', ');
}
