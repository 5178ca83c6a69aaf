import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Decide, DecideWithLie } from '@ichor/policy/testing';

/** One piece of text of the build that is replaced. */
export interface Edit {
  /** File of the build, such as `assess.js`. */
  readonly file: string;
  /** Text that must stand there exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** One change of the built policy that takes a rule or a step away. */
export type Removal =
  | { readonly name: string; readonly kind: 'rule'; readonly code: string }
  | { readonly name: string; readonly kind: 'step'; readonly edits: readonly Edit[] };

const build = fileURLToPath(new URL('../../dist', import.meta.url));
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

function removeRule(directory: string, code: string): void {
  const table = join(directory, 'dist/rules/rule-table.js');
  renameSync(table, join(directory, 'dist/rules/whole-rule-table.js'));
  writeFileSync(
    table,
    [
      "import { ruleTable as whole } from './whole-rule-table.js';",
      `const kept = whole.filter(({ code }) => code !== ${JSON.stringify(code)});`,
      `if (kept.length !== whole.length - 1) throw new Error('there is no rule ${code}');`,
      'export const ruleTable = kept;',
    ].join('\n'),
  );
}

function replaceOnce(file: string, find: string, replace: string): void {
  const source = readFileSync(file, 'utf8');
  const parts = source.split(find);
  if (parts.length !== 2) {
    throw new Error(`${file} holds ${JSON.stringify(find)} ${parts.length - 1} times, not once`);
  }
  writeFileSync(file, parts.join(replace));
}

/** The decision of a changed build, and the same with a second parser that lies. */
export interface ChangedPolicy {
  readonly decide: Decide;
  readonly decideWithLie: DecideWithLie;
}

/** What is used of the modules of the build. */
interface BuiltModules {
  readonly 'index.js': { readonly decideCsr: Decide };
  readonly 'decide-csr.js': {
    readonly assessCsr: (
      verify: unknown,
      ...rest: [...Parameters<Decide>, { readonly secondParser: SecondParser }]
    ) => { readonly decision: ReturnType<Decide> };
  };
  readonly 'second-parser.js': { readonly readWithAsn1js: SecondParser };
  readonly 'signature.node.js': { readonly verifySignature: unknown };
}

type SecondView = Parameters<Parameters<DecideWithLie>[0]>[0];
type SecondParser = (der: Uint8Array) => SecondView | undefined;

/**
 * Copies the build into `directory`, takes a rule or a step away there, and loads it.
 *
 * @throws Error if what is to be taken away is not there: a removal that removes nothing would
 *   prove nothing
 */
export async function loadWithout(
  removal: Removal | null,
  directory: string,
): Promise<ChangedPolicy> {
  mkdirSync(directory);
  cpSync(build, join(directory, 'dist'), { recursive: true });
  symlinkSync(modules, join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }\n');
  if (removal?.kind === 'rule') removeRule(directory, removal.code);
  for (const { file, find, replace } of removal?.kind === 'step' ? removal.edits : []) {
    replaceOnce(join(directory, 'dist', file), find, replace);
  }
  const load = async <File extends keyof BuiltModules>(file: File) =>
    (await import(pathToFileURL(join(directory, 'dist', file)).href)) as BuiltModules[File];
  const { decideCsr } = await load('index.js');
  const { assessCsr } = await load('decide-csr.js');
  const { readWithAsn1js } = await load('second-parser.js');
  const { verifySignature } = await load('signature.node.js');
  return {
    decide: decideCsr,
    decideWithLie: (tell) => (csr, reading, options) => {
      const secondParser = (der: Uint8Array) => {
        const seen = readWithAsn1js(der);
        return seen && tell(seen);
      };
      return assessCsr(verifySignature, csr, reading, options, { secondParser }).decision;
    },
  };
}
