import { encodeYaml } from '../encode.ts';
import { editYamlDocument, type FieldEdits, readYamlStream } from '../yaml-stream.ts';
import { type ConfigDocument, fieldPath, kindOf } from './documents/config-document.ts';
import { isPatchDelete } from './documents/patch-delete.ts';
import { fieldOf, isMapping, isSameValue, type Mapping } from './fields.ts';
import { parseMachineConfig } from './live/machine-config-stream.ts';
import { type Problem, problemAt, quoted } from './problem.ts';

/** A machine configuration with documents merged into it, or why that cannot be. */
export type MergedConfig =
  | { readonly kind: 'merged'; readonly text: string }
  | { readonly kind: 'refused'; readonly problems: readonly [Problem, ...Problem[]] };

/**
 * Merges rendered documents into a machine configuration by Talos's rules for the fields that rendering owns:
 * documents match by kind, mappings merge key by key, a scalar replaces, `$patch: delete` takes a field away and is
 * an error where there is none. Everything else stays as it is, byte for byte; where nothing changes, the text does
 * not. (Talos's `pkg/machinery/config/merge` and `configpatcher`)
 */
export function mergePatch(live: string, documents: readonly ConfigDocument[]): MergedConfig {
  let text = live;
  for (const document of documents) {
    const merged = mergeDocument(text, document);
    if (merged.kind === 'refused') return merged;
    text = merged.text;
  }
  return { kind: 'merged', text };
}

function mergeDocument(text: string, patch: ConfigDocument): MergedConfig {
  const stream = parseMachineConfig(text);
  if (stream.kind === 'refused') {
    const [problem, ...problems] = stream.problems;
    return problem === undefined ? { kind: 'merged', text } : refused(problem, ...problems);
  }
  const documents = stream.documents;
  const kind = kindOf(patch);
  const conflict = shapeConflict(documents.filter(isMapping), patch);
  if (conflict !== undefined) return refused(conflict);
  const index = documents.findIndex((one) => isMapping(one) && kindOf(one) === kind);
  const target = documents[index];
  if (!isMapping(target)) return appendDocument(text, patch);
  const problems: Problem[] = [];
  const edits = editsOf(target, asMapping(patch), { kind, keys: [] }, problems);
  const [problem, ...others] = problems;
  if (problem !== undefined) return refused(problem, ...others);
  if (edits === undefined) return { kind: 'merged', text };
  const edited = editYamlDocument(text, index, edits);
  const expected = documents.map((one) => (one === target ? withEdits(target, edits) : one));
  return edited !== undefined && says(edited, expected)
    ? { kind: 'merged', text: edited }
    : refused(
        problemAt(
          kind === 'v1alpha1' ? 'machine configuration' : kind,
          'is spelled in a way that is not edited here, such as through aliases or in blocks of one line; apply the patch with talosctl.',
        ),
      );
}

/** Where each document's settings stand in the other shape. */
const sections = [
  { kind: 'KubeletConfig', section: 'machine', key: 'kubelet' },
  { kind: 'KubeAPIServerConfig', section: 'cluster', key: 'apiServer' },
] as const;

function shapeConflict(documents: readonly Mapping[], patch: object): Problem | undefined {
  for (const { kind, section, key } of sections) {
    const legacyPath = `.${section}.${key}`;
    const hasDocument = documents.some((one) => kindOf(one) === kind);
    const hasLegacy = documents.some((one) => legacyField(one, section, key) !== undefined);
    if (legacyField(asMapping(patch), section, key) !== undefined && hasDocument) {
      return problemAt(
        legacyPath,
        `cannot be patched beside the document ${kind}; render for the shape of this configuration.`,
      );
    }
    if (kindOf(patch) !== kind) continue;
    if (hasLegacy) {
      return problemAt(
        kind,
        `cannot be introduced beside ${legacyPath}; render for the shape of this configuration.`,
      );
    }
    if (!hasDocument && !('image' in patch)) {
      return problemAt(
        kind,
        'is not in this configuration, and a patch without an image cannot introduce it; render for the shape of this configuration.',
      );
    }
  }
  return undefined;
}

function legacyField(document: Mapping, section: string, key: string): unknown {
  if (kindOf(document) !== 'v1alpha1') return undefined;
  const parent = fieldOf(document, section);
  return isMapping(parent) ? fieldOf(parent, key) : undefined;
}

function appendDocument(text: string, document: object): MergedConfig {
  const separator = text.endsWith('\n') || text === '' ? '' : '\n';
  return { kind: 'merged', text: `${text}${separator}---\n${encodeYaml([document])}` };
}

/** Where in a document a patch is merged. */
interface MergePlace {
  readonly kind: string;
  readonly keys: readonly string[];
}

/** What a patch changes in a mapping; undefined where it changes nothing. */
function editsOf(
  target: Mapping,
  patch: Mapping,
  { kind, keys }: MergePlace,
  problems: Problem[],
): FieldEdits | undefined {
  const edits: Record<string, FieldEdits[string]> = {};
  for (const [key, value] of Object.entries(patch)) {
    const place = { kind, keys: [...keys, key] };
    const edit = editOf(fieldOf(target, key), value, place, problems);
    if (edit !== 'none') edits[key] = edit.value;
  }
  return Object.keys(edits).length === 0 ? undefined : edits;
}

/** A change of one field, or none. */
type FieldEdit = 'none' | { readonly value: FieldEdits[string] };

/** What a patch changes in one field. */
function editOf(
  current: unknown,
  value: unknown,
  place: MergePlace,
  problems: Problem[],
): FieldEdit {
  const refuse = (why: string): FieldEdit => {
    problems.push(problemAt(fieldPath(place.kind, place.keys), why));
    return 'none';
  };
  if (isPatchDelete(value)) {
    return current === undefined
      ? refuse('is not there to be deleted; leave it out of the patch.')
      : { value: undefined };
  }
  if (isMapping(value)) {
    if (current !== undefined && !isMapping(current)) {
      return refuse(`is ${quoted(current)}; it must be a mapping.`);
    }
    const inner = editsOf(current ?? {}, value, place, problems);
    return inner === undefined ? 'none' : { value: inner };
  }
  if (current === value || (typeof value !== 'string' && typeof value !== 'boolean')) return 'none';
  return current === undefined || typeof current === typeof value
    ? { value }
    : refuse(
        `is ${quoted(current)}, which ${quoted(value)} cannot be merged into; correct or remove it.`,
      );
}

function withEdits(target: Mapping, edits: FieldEdits): Mapping {
  const result: Record<string, unknown> = { ...target };
  for (const [key, edit] of Object.entries(edits)) {
    const current = fieldOf(target, key);
    if (edit === undefined) delete result[key];
    else if (typeof edit === 'object') {
      result[key] = withEdits(isMapping(current) ? current : {}, edit);
    } else result[key] = edit;
  }
  return result;
}

/** Whether a text says exactly these documents: the proof that an edit touched nothing else. */
function says(text: string, documents: readonly unknown[]): boolean {
  const stream = readYamlStream(text);
  return stream.kind === 'read' && isSameValue(stream.documents, documents);
}

function asMapping(document: object): Mapping {
  return { ...document };
}

function refused(...problems: readonly [Problem, ...Problem[]]): MergedConfig {
  return { kind: 'refused', problems };
}
