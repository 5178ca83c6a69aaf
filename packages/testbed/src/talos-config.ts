import { execFile } from 'node:child_process';
import { buildPart } from './go-build.ts';
import type { TalosConfigPart } from './go-parts.ts';

/** A configuration as Talos spells it, or the sentence with which Talos refused; the other is empty. */
export type TalosConfigAnswer = { readonly config: string; readonly error: string };

/** What to generate. */
export type GenerateCase = {
  readonly contract: string;
  readonly machineType: 'controlplane' | 'worker';
  /** Without a leading `v`. */
  readonly kubernetesVersion: string;
};

/** The configuration library of one version of Talos. Answers come in the order of the cases. */
export type TalosConfigLibrary = {
  /** What `talosctl gen config` makes, without comments; cases of one contract share their secrets. */
  generate(cases: readonly GenerateCase[]): Promise<readonly TalosConfigAnswer[]>;
  /** What `talosctl machineconfig patch` makes; without patches the configuration as Talos spells it. */
  patch(
    cases: readonly { readonly config: string; readonly patches: readonly string[] }[],
  ): Promise<readonly TalosConfigAnswer[]>;
  /** What `talosctl validate` says; an empty `error` is a valid configuration. */
  validate(
    cases: readonly { readonly config: string }[],
  ): Promise<readonly { readonly warnings: readonly string[] | null; readonly error: string }[]>;
};

/** The library of a version, built where the cache does not hold it; same errors as `buildPart`. */
export async function talosConfigLibrary(part: TalosConfigPart): Promise<TalosConfigLibrary> {
  const program = await buildPart(part);
  return {
    generate: (cases) => ask(program, 'genconfig', cases),
    patch: (cases) => ask(program, 'patch', cases),
    validate: (cases) => ask(program, 'validate', cases),
  };
}

function ask<Answer>(
  program: string,
  subcommand: string,
  cases: readonly object[],
): Promise<readonly Answer[]> {
  return new Promise((done, fail) => {
    const child = execFile(
      program,
      [subcommand],
      { maxBuffer: 256 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error !== null) {
          fail(new Error(`talos-config ${subcommand} failed: ${stderr.trim() || error.message}`));
        } else done(JSON.parse(stdout));
      },
    );
    child.stdin?.end(JSON.stringify(cases));
  });
}
