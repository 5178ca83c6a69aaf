import { readYamlStream } from '../../yaml-stream.ts';
import { kindOf } from '../documents/config-document.ts';
import { fieldOf, isMapping, type Mapping } from '../fields.ts';
import { type Problem, problemAt } from '../problem.ts';

/** The documents of a machine configuration, or why it cannot be used. */
export type MachineConfigStream =
  | {
      readonly kind: 'read';
      /** Every document in order; the places match those of the text. Empty documents are null. */
      readonly documents: readonly (Mapping | null)[];
    }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

const name = 'machine configuration';

/** Parses a machine configuration: a stream of YAML documents, of which one is the `v1alpha1` document. */
export function parseMachineConfig(text: string): MachineConfigStream {
  const stream = readYamlStream(text);
  if (stream.kind === 'problem') {
    return refused(
      problemAt(
        name,
        `is not YAML (${stream.sentence}); correct it or read it from the node again.`,
      ),
    );
  }
  const documents: (Mapping | null)[] = [];
  for (const [index, document] of stream.documents.entries()) {
    if (document !== null && !isMapping(document)) {
      return refused(
        problemAt(name, `holds a document that is no mapping (number ${index + 1}); remove it.`),
      );
    }
    documents.push(document);
  }
  const problem = faultOf(documents.filter(isMapping));
  return problem === undefined ? { kind: 'read', documents } : refused(problem);
}

function faultOf(documents: readonly Mapping[]): Problem | undefined {
  if (documents.some((one) => isMapping(one['metadata']) && 'spec' in one)) {
    return problemAt(
      name,
      "is wrapped in the resource that talosctl printed; give its spec alone: talosctl get machineconfig v1alpha1 -o jsonpath='{.spec}'.",
    );
  }
  for (const kind of ['v1alpha1', 'KubeletConfig', 'KubeAPIServerConfig']) {
    const same = documents.filter((document) => kindOf(document) === kind);
    if (same.length > 1) {
      return problemAt(name, `holds ${same.length} ${kind} documents; keep one of them.`);
    }
    const version = same[0] === undefined ? undefined : fieldOf(same[0], 'apiVersion');
    if (kind !== 'v1alpha1' && same.length === 1 && version !== 'v1alpha1') {
      return problemAt(`${kind}.apiVersion`, 'must be v1alpha1; correct it.');
    }
  }
  const [main] = documents.filter((document) => kindOf(document) === 'v1alpha1');
  if (main === undefined || (fieldOf(main, 'machine') ?? fieldOf(main, 'cluster')) === undefined) {
    return problemAt(
      name,
      'has no v1alpha1 document with machine and cluster; give the whole configuration of the machine.',
    );
  }
  return undefined;
}

function refused(problem: Problem): MachineConfigStream {
  return { kind: 'refused', problems: [problem] };
}
