import { kindOf } from '../documents/config-document.ts';
import { fieldOf, isMapping, type Mapping } from '../fields.ts';
import { type Problem, problemAt, quoted } from '../problem.ts';
import type { LiveComponent, LiveConfig, LiveKubelet, MachineType } from './live-config.ts';
import { parseMachineConfig } from './machine-config-stream.ts';

/** A machine configuration as read, or why it cannot be used. */
export type ReadLiveConfig =
  | { readonly kind: 'read'; readonly live: LiveConfig }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

/**
 * Reads the configuration that a machine runs with: which shape each component has, and what in it bears on
 * serving certificates. Refused where it does not parse, or where both shapes of a component are present, which
 * Talos refuses, too. (`V1Alpha1ConflictValidate` of both documents)
 *
 * @param machineConfig the YAML stream that `talosctl get machineconfig v1alpha1 -o jsonpath='{.spec}'` prints
 */
export function shapeOf(machineConfig: string): ReadLiveConfig {
  const stream = parseMachineConfig(machineConfig);
  if (stream.kind === 'refused') return stream;
  const reader = fieldReader(stream.documents.filter(isMapping));
  const live = {
    machineType: machineTypeOf(reader),
    kubelet: kubeletOf(reader),
    apiServer: componentOf(reader, apiServer),
  };
  return reader.problems.length > 0
    ? { kind: 'refused', problems: reader.problems }
    : { kind: 'read', live };
}

/** Where a component stands in each shape. */
interface ComponentPlace {
  readonly kind: string;
  readonly section: 'machine' | 'cluster';
  readonly key: string;
}

const kubelet: ComponentPlace = { kind: 'KubeletConfig', section: 'machine', key: 'kubelet' };
const apiServer: ComponentPlace = {
  kind: 'KubeAPIServerConfig',
  section: 'cluster',
  key: 'apiServer',
};

/** Reads fields of documents and notes each one that has the wrong type. */
interface FieldReader {
  readonly problems: Problem[];
  /** The document of this kind. */
  readonly document: (kind: string) => Mapping | undefined;
  /** A mapping inside a mapping; undefined where it is absent or null. */
  readonly mapping: (parent: Mapping | undefined, key: string, path: string) => Mapping | undefined;
}

function fieldReader(documents: readonly Mapping[]): FieldReader {
  const problems: Problem[] = [];
  return {
    problems,
    document: (kind) => documents.find((document) => kindOf(document) === kind),
    mapping: (parent, key, path) => {
      const value = parent === undefined ? undefined : fieldOf(parent, key);
      if (value === undefined || isMapping(value)) return value;
      // Several components stand in one section, which is one problem.
      if (!problems.some((problem) => problem.path === path)) {
        problems.push(problemAt(path, `is ${quoted(value)}; it must be a mapping.`));
      }
      return undefined;
    },
  };
}

function machineTypeOf(reader: FieldReader): MachineType | undefined {
  const machine = reader.mapping(reader.document('v1alpha1'), 'machine', '.machine');
  const type = machine === undefined ? undefined : fieldOf(machine, 'type');
  switch (type) {
    case undefined:
      return undefined;
    case 'worker':
      return type;
    case 'controlplane':
    case 'init':
      return 'controlplane';
    default:
      reader.problems.push(
        problemAt('.machine.type', `is ${quoted(type)}; it must be controlplane or worker.`),
      );
      return undefined;
  }
}

function kubeletOf(reader: FieldReader): LiveKubelet {
  const component = componentOf(reader, kubelet);
  const key = component.shape === 'document' ? 'config' : 'extraConfig';
  const configPath = `${component.path}.${key}`;
  return {
    ...component,
    configPath,
    config: reader.mapping(component.fields, key, configPath) ?? {},
  };
}

function componentOf(
  reader: FieldReader,
  { kind, section, key }: ComponentPlace,
): LiveComponent & { readonly fields: Mapping | undefined } {
  const legacyPath = `.${section}.${key}`;
  const document = reader.document(kind);
  const legacy = reader.mapping(
    reader.mapping(reader.document('v1alpha1'), section, `.${section}`),
    key,
    legacyPath,
  );
  if (document !== undefined && legacy !== undefined) {
    reader.problems.push(
      problemAt(legacyPath, `and the document ${kind} are both present; keep one of the two.`),
    );
  }
  const fields = document ?? legacy;
  const path = document === undefined ? legacyPath : kind;
  return {
    shape: document !== undefined ? 'document' : legacy !== undefined ? 'legacy' : 'absent',
    path,
    fields,
    flags: flagsOf(reader, fields, `${path}.extraArgs`),
  };
}

function flagsOf(reader: FieldReader, fields: Mapping | undefined, path: string) {
  const flags = new Map<string, readonly string[]>();
  const given = reader.mapping(fields, 'extraArgs', path) ?? {};
  for (const [flag, value] of Object.entries(given)) {
    const values = Array.isArray(value) ? value : [value];
    if (values.every(isScalar)) flags.set(flag, values.map(scalarText));
    else {
      reader.problems.push(
        problemAt(`${path}.${flag}`, 'must be a text or a list of texts; correct it.'),
      );
    }
  }
  return flags;
}

// Talos reads extraArgs as texts, whatever a plain scalar looks like.
function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

function scalarText(value: unknown): string {
  return value === null ? '' : String(value);
}
