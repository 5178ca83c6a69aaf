import {
  type CertificateSigningRequest,
  type Decision,
  explain,
  machineOf,
  type NodeReading,
  type PolicyOptions,
} from '@ichor/policy';
import { encodeYaml } from '@ichor/render';
import type { Command, CommandIo } from './command.ts';
import { exitCode, UsageError } from './exit-code.ts';
import { explanationTable } from './explanation-table.ts';
import { oneOf, parseFlags } from './flags.ts';
import { nodeReadingOf } from './node-reading-input.ts';
import { parseText, readText } from './read-input.ts';
import { runVectors } from './run-vectors.ts';
import { signingRequestOf } from './signing-request-input.ts';

/** `ichor decide`: the decision about one request, with every rule explained. */
export const decideCommand: Command = {
  name: 'decide',
  summary: 'explain what would be decided about a request',
  help: `Usage: ichor decide --csr FILE --identity FILE [FLAGS]
       ichor decide --csr FILE --talosconfig FILE --node ADDRESS [FLAGS]
       ichor decide --vectors FILE

Judges one request and explains every rule. Nothing is written anywhere.

  --csr FILE                  what kubectl get csr NAME -o yaml prints; - for standard input
  --identity FILE             a NodeReading, or a bare NodeIdentity, as YAML or JSON
  --talosconfig FILE          ask a live node instead, with these credentials
    --context NAME            context of the talosconfig (default: its current one)
    --node ADDRESS            address of the node
    --control-plane           the node is a control plane: read what it reserves, too
    --reserved ENTRY          an address, CIDR or name that is reserved; may be repeated
  --unknown-names MODE        deny (default) or pending: what becomes of a name that is nobody's
  --max-expiration-seconds N  longest lifetime that is approved, in seconds
  --vectors FILE              decide a file of decision vectors; prints each difference and a count
  -o, --output FORM           table (default), json or yaml
  -h, --help                  this text

A live node is judged alone: what other machines hold is not known here, as it is to the operator.

Exit codes: 0 approved (or no difference), 1 denied (or a difference), 2 pending, 64 wrong usage.
`,
  run: async (args, io) => {
    const flags = parseFlags('decide', args, {
      csr: { type: 'string' },
      identity: { type: 'string' },
      talosconfig: { type: 'string' },
      context: { type: 'string' },
      node: { type: 'string' },
      'control-plane': { type: 'boolean', default: false },
      reserved: { type: 'string', multiple: true, default: [] },
      'unknown-names': { type: 'string' },
      'max-expiration-seconds': { type: 'string' },
      vectors: { type: 'string' },
      output: { type: 'string', short: 'o', default: 'table' },
    });
    const output = oneOf('output', flags.output, ['table', 'json', 'yaml']);
    if (flags.vectors !== undefined) {
      if (Object.entries(flags).some(([flag, value]) => aboutOne.has(flag) && isGiven(value))) {
        throw new UsageError('--vectors stands alone: leave all other flags but --output out.');
      }
      return decideVectors(flags.vectors, output, io);
    }
    if (flags.csr === undefined) {
      throw new UsageError('--csr is missing; give a file, or - for standard input.');
    }
    checkReadingFlags(flags);
    if (flags.csr === '-' && flags.identity === '-') {
      throw new UsageError('only one of --csr and --identity can be standard input.');
    }
    const options = optionsOf(flags['unknown-names'] ?? 'deny', flags['max-expiration-seconds']);
    const csr = signingRequestOf(parseText(await readText(flags.csr, io), flags.csr), flags.csr);
    const reading = await readingOf(flags, csr, io);
    const explanation = explain(csr, reading, options);
    io.out(
      output === 'table'
        ? explanationTable(explanation)
        : output === 'json'
          ? `${JSON.stringify(explanation, null, 2)}\n`
          : encodeYaml([explanation as never]),
    );
    return exitCodeOf(explanation.decision);
  },
};

interface ReadingFlags {
  readonly identity?: string | undefined;
  readonly talosconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly node?: string | undefined;
  readonly 'control-plane': boolean;
  readonly reserved: readonly string[];
}

/** Flags that say which request is decided, about whom, and how: those that vectors say themselves. */
const aboutOne: ReadonlySet<string> = new Set([
  'csr',
  'identity',
  'talosconfig',
  'context',
  'node',
  'control-plane',
  'reserved',
  'unknown-names',
  'max-expiration-seconds',
]);

/** Whether the value of a flag without a default comes from the command line. */
function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** @throws UsageError unless there is exactly one way to learn who the node is */
function checkReadingFlags(flags: ReadingFlags): void {
  const { identity, node } = flags;
  if ((identity === undefined) === (node === undefined)) {
    throw new UsageError(
      'give either --identity FILE, or --talosconfig FILE with --node ADDRESS, to say who the node is.',
    );
  }
  if (node === '') throw new UsageError('--node is empty; give the address of the node.');
  const live = ['talosconfig', 'context', 'control-plane', 'reserved'] as const;
  const idle = node === undefined ? live.find((flag) => isGiven(flags[flag])) : undefined;
  if (idle !== undefined) {
    throw new UsageError(`--${idle} is about a live node: give --node, or leave it out.`);
  }
}

async function readingOf(
  flags: ReadingFlags,
  csr: CertificateSigningRequest,
  io: CommandIo,
): Promise<NodeReading> {
  const { identity, node = '' } = flags;
  if (identity !== undefined) {
    return nodeReadingOf(parseText(await readText(identity, io), identity), identity);
  }
  const talosconfig = flags.talosconfig ?? io.env['TALOSCONFIG'];
  if (talosconfig === undefined) {
    throw new UsageError('--talosconfig is missing; --node needs the credentials to ask with.');
  }
  const machine = machineOf(csr, () => true);
  const { readLiveNode } = await import('./live-reading.ts');
  return readLiveNode(
    {
      talosconfig,
      context: flags.context,
      node,
      controlPlane: flags['control-plane'],
      reserved: flags.reserved,
    },
    machine.kind === 'none' ? '' : machine.nodeName,
  );
}

async function decideVectors(path: string, output: string, io: CommandIo): Promise<number> {
  const report = runVectors(parseText(await readText(path, io), path), path);
  if (output === 'table') {
    for (const difference of report.differences) io.out(`${difference}\n`);
    io.out(`${report.count} vectors, ${report.differences.length} differences\n`);
  } else if (output === 'json') io.out(`${JSON.stringify(report, null, 2)}\n`);
  else io.out(encodeYaml([report as never]));
  return report.differences.length === 0 ? exitCode.ok : exitCode.denied;
}

function optionsOf(unknownNames: string, maxExpirationSeconds: string | undefined): PolicyOptions {
  const mode = oneOf('unknown-names', unknownNames, ['deny', 'pending']);
  if (maxExpirationSeconds === undefined) return { unknownNames: mode };
  if (!/^[1-9]\d{0,9}$/.test(maxExpirationSeconds)) {
    throw new UsageError(
      `--max-expiration-seconds is ${JSON.stringify(maxExpirationSeconds)}; it must be a number of seconds.`,
    );
  }
  return { unknownNames: mode, maxExpirationSeconds: Number(maxExpirationSeconds) };
}

function exitCodeOf(decision: Decision): number {
  switch (decision.kind) {
    case 'approve':
      return exitCode.ok;
    case 'deny':
      return exitCode.denied;
    case 'pending':
      return exitCode.pending;
  }
}
