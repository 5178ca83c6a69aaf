import type { TalosCluster } from '@ichor/k8s-adapter';
import {
  type ConfigDocument,
  type ConfigSpec,
  changesOf,
  encodeYaml,
  type LiveConfig,
  type MachineType,
  mergePatch,
  optionState,
  type Problem,
  renderConfig,
  shapeOf,
} from '@ichor/render';
import { talosClusterOf } from './cluster-spec-input.ts';
import type { Command, CommandIo } from './command.ts';
import { exitCode, UsageError } from './exit-code.ts';
import { oneOf, parseFlags } from './flags.ts';
import { lineDifference } from './line-difference.ts';
import { parseText, readText } from './read-input.ts';

/** `ichor render`: the Talos configuration that a cluster's specification asks for. */
export const renderCommand: Command = {
  name: 'render',
  summary: 'print the Talos configuration that a TalosCluster asks for',
  help: `Usage: ichor render -f FILE [FLAGS]

Prints what makes kubelets ask for serving certificates and, once the cluster is verified, what makes
the API server verify them, ready for Talos:

  ichor render -f cluster.yaml --machine-type worker > patch.yaml
  talosctl patch machineconfig --mode no-reboot --patch @patch.yaml -n 10.5.0.11

Nothing is written anywhere, and nothing is asked: give the configuration of the machine with --diff
to keep its shape. With the option off there is nothing to print, and a line on standard error says so.

  -f, --file FILE        a TalosCluster, as written or as kubectl prints it; - for standard input
  --contract VERSION     version contract, such as v1.14 (default: spec.talos.contract)
  --machine-type TYPE    controlplane or worker (default: that of --diff; needed where the two differ)
  --patch                what is added to a configuration that exists (default)
  --full                 whole documents, with the images of spec.kubernetes.version
  --verified             take the cluster for verified (default: its condition KubeletServingVerified)
  --removing             take back what was on before; while enabled is true, only the verification
  --diff FILE            compare with this machine configuration, - for standard input, and print the
                         difference that the patch makes; FILE is what this prints:
                         talosctl get machineconfig v1alpha1 -o jsonpath='{.spec}'
  -o, --output FORM      yaml (default) or json (state, documents, warnings, what changes cost, merged)
  -h, --help             this text

Exit codes: 0 done, or no difference; 1 a difference found by --diff; 64 wrong usage, or refused.
`,
  run: async (args, io) => {
    const flags = parseFlags('render', args, {
      file: { type: 'string', short: 'f' },
      contract: { type: 'string' },
      'machine-type': { type: 'string' },
      patch: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      verified: { type: 'boolean', default: false },
      removing: { type: 'boolean', default: false },
      diff: { type: 'string' },
      output: { type: 'string', short: 'o', default: 'yaml' },
    });
    const output = oneOf('output', flags.output, ['yaml', 'json']);
    const path = fileOf(flags);
    const machineType =
      flags['machine-type'] === undefined
        ? undefined
        : oneOf('machine-type', flags['machine-type'], ['controlplane', 'worker']);
    const cluster = talosClusterOf(parseText(await readText(path, io), path), path);
    const text = flags.diff === undefined ? undefined : await readText(flags.diff, io);
    const live = text === undefined ? undefined : liveOf(text, flags.diff ?? '');
    const contract = flags.contract ?? cluster.spec.talos.contract;
    const rendering = renderingOf({
      spec: {
        ...specOf(cluster, flags),
        output: flags.full ? 'full' : 'patch',
        ...(live === undefined ? {} : { live }),
      },
      contract,
      machineType: machineType ?? live?.machineType,
    });
    for (const { sentence } of rendering.warnings) io.err(`ichor render: ${sentence}\n`);
    return text === undefined
      ? printDocuments(rendering, output, io)
      : printDifference(rendering, output, { text, name: flags.diff ?? '' }, io);
  },
};

/** The file of the cluster, once the flags fit together. */
function fileOf(flags: {
  readonly file?: string | undefined;
  readonly diff?: string | undefined;
  readonly patch: boolean;
  readonly full: boolean;
}): string {
  if (flags.file === undefined) {
    throw new UsageError(
      '-f is missing; give the file of a TalosCluster, or - for standard input.',
    );
  }
  if (flags.patch && flags.full) {
    throw new UsageError('--patch and --full exclude each other; give one of them.');
  }
  if (flags.full && flags.diff !== undefined) {
    throw new UsageError('--diff compares what a patch makes; leave --full out.');
  }
  if (flags.file === '-' && flags.diff === '-') {
    throw new UsageError('only one of -f and --diff can be standard input.');
  }
  return flags.file;
}

type ClusterSpec = Omit<ConfigSpec, 'machineType'>;

interface Rendering {
  readonly state: string;
  readonly documents: readonly ConfigDocument[];
  readonly warnings: readonly Problem[];
}

function specOf(
  { spec, status }: TalosCluster,
  flags: { readonly verified: boolean; readonly removing: boolean },
): ClusterSpec {
  const { enabled, verifyFromAPIServer } = spec.servingCertificates;
  const latched = status.conditions.some(
    (condition) => condition.type === 'KubeletServingVerified' && condition.status === 'True',
  );
  return {
    kubeletServingCertificates: { enabled, verifyFromAPIServer },
    verified: flags.verified || latched,
    removing: flags.removing,
    kubernetesVersion: spec.kubernetes.version,
  };
}

function liveOf(text: string, path: string): LiveConfig {
  const read = shapeOf(text);
  if (read.kind === 'refused') throw refusal(read.problems, path);
  return read.live;
}

/** Renders for a type of machine, or for both where none is named and it makes no difference. */
function renderingOf({
  spec,
  contract,
  machineType,
}: {
  readonly spec: ClusterSpec;
  readonly contract: string | undefined;
  readonly machineType: MachineType | undefined;
}): Rendering {
  const render = (type: MachineType): Rendering => {
    const whole = { ...spec, machineType: type };
    const rendered = renderConfig(whole, contract);
    if (rendered.kind === 'refused') throw refusal(rendered.problems);
    return { ...rendered, state: String(optionState(whole)) };
  };
  if (machineType !== undefined) return render(machineType);
  const controlPlane = render('controlplane');
  const worker = render('worker');
  if (encodeYaml(controlPlane.documents) !== encodeYaml(worker.documents)) {
    throw new UsageError(
      '--machine-type is missing; control planes and workers get different documents, so name one.',
    );
  }
  return controlPlane;
}

function refusal(problems: readonly Problem[], path?: string): UsageError {
  const sentences = problems.map(({ sentence }) => sentence).join(' ');
  return new UsageError(path === undefined ? sentences : `${path}: ${sentences}`);
}

function printDocuments(rendering: Rendering, output: 'yaml' | 'json', io: CommandIo): number {
  if (output === 'json') io.out(jsonOf(rendering));
  else io.out(encodeYaml(rendering.documents));
  if (rendering.documents.length === 0) {
    io.err(
      rendering.state === 'off'
        ? 'ichor render: kubeletServingCertificates is off, so there is no patch.\n'
        : 'ichor render: there is nothing to change.\n',
    );
  }
  return exitCode.ok;
}

function printDifference(
  rendering: Rendering,
  output: 'yaml' | 'json',
  live: { readonly text: string; readonly name: string },
  io: CommandIo,
): number {
  const merged = mergePatch(live.text, rendering.documents);
  if (merged.kind === 'refused') throw refusal(merged.problems, live.name);
  if (output === 'json') io.out(jsonOf(rendering, merged.text));
  else io.out(lineDifference(live.text, merged.text, live.name, `${live.name} (patched)`));
  return merged.text === live.text ? exitCode.ok : exitCode.denied;
}

function jsonOf({ state, documents, warnings }: Rendering, merged?: string): string {
  const changes = changesOf(documents).filter(({ effect }) => effect !== 'none');
  const report = {
    state,
    documents,
    changes,
    warnings,
    ...(merged === undefined ? {} : { merged }),
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}
