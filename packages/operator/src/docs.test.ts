import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseTalosCluster, parseTalosMachine } from '@ichor/k8s-adapter';
import { denyReasons, pendingReasons } from '@ichor/policy';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { certificatesReasons, operationalReasons, operatorPendingReasons } from './index.ts';

// What the repository's own prose says about the repository: files, commands, reasons, variables.

const root = fileURLToPath(new URL('../../..', import.meta.url));
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What the build and the packages leave in a checkout is no file of the repository. */
const foreign = new Set(['node_modules', 'dist', '.git', 'coverage']);
const files = filesBelow(root);
const documents = files.filter((file) => file.endsWith('.md'));
const scripts: Readonly<Record<string, string>> = JSON.parse(textOf('package.json')).scripts;
const guide = textOf('docs/guides/operating.md');
const contributing = textOf('CONTRIBUTING.md');

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isFile()) return [relative(root, path).split(sep).join('/')];
    return entry.isDirectory() && !foreign.has(entry.name) ? filesBelow(path) : [];
  });
}

/** The documents without their blocks of code, which show files that a reader would write. */
const proseOf = (document: string): string => textOf(document).replace(/^```.*?^```/gms, '');

/** Everything between backticks that is a path: it begins in a folder of ours, or ends like a file. */
function pathsIn(prose: string): readonly string[] {
  return [...prose.matchAll(/`([^`\s]+)`/g)]
    .map(([, path = '']) => path)
    .filter(
      (path) =>
        /^(packages|docs|scripts|src|test|\.ci)\//.test(path) ||
        /^[\w.*/-]*\w\.(ts|mjs|json|yaml|proto|md|go|mod)$/.test(path),
    );
}

/** True where a file, a folder or a pattern with asterisks is there, by its whole path or its end. */
function isThere(path: string): boolean {
  const pattern = path
    .replace(/\/$/, '')
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*');
  const expression = new RegExp(`(^|/)${pattern}(/|$)`);
  return files.some((file) => expression.test(file));
}

/** First cells of the table under a heading, as far as they are words in backticks. */
function tableUnder(text: string, heading: string): readonly string[] {
  const [, section = ''] = text.split(`${heading}\n`);
  const [table = ''] = section.split(/^#/m);
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, cell = '']) => cell);
}

describe('paths', () => {
  test.each(documents)('those that %s names exist', (document) => {
    // The form of a decision record's name is no file.
    const named = pathsIn(proseOf(document)).filter((path) => !path.includes('NNNN'));
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  test.each(documents)('the links of %s lead somewhere', (document) => {
    const links = [...proseOf(document).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target));
    expect(links.filter((link) => !existsSync(join(root, dirname(document), link)))).toEqual([]);
  });

  test('a path that is not there is noticed', () => {
    expect(
      pathsIn('see `packages/operator/src/nowhere.ts`, `rules/reasons.ts` and `kind`'),
    ).toEqual(['packages/operator/src/nowhere.ts', 'rules/reasons.ts']);
    expect(isThere('packages/operator/src/nowhere.ts')).toBe(false);
    expect(isThere('rules/reasons.ts')).toBe(true);
    expect(isThere('packages/operator/src/kubelet-serving/plan-*.ts')).toBe(true);
  });
});

describe('examples', () => {
  /** The custom resources of a document, as they would be applied. */
  const objectsIn = (document: string) =>
    [...textOf(document).matchAll(/^ *```yaml\n(.*?)^ *```/gms)]
      .flatMap(([, block = '']) => parseAllDocuments(block.replace(/^ {3}/gm, '')))
      .map(
        (parsed) =>
          parsed.toJS() as { apiVersion: string; kind: string; metadata: { name: string } },
      )
      .filter(({ apiVersion }) => apiVersion === 'ichor.dev/v1alpha1')
      .map((object) => {
        const stored = { uid: 'uid', generation: 1, resourceVersion: '1' };
        return { ...object, metadata: { ...object.metadata, ...stored } };
      });

  test.each([
    ['README.md', ['TalosCluster lab', 'TalosMachine worker-1']],
    [
      'docs/guides/operating.md',
      ['TalosCluster lab', 'TalosMachine cp-1', 'TalosMachine worker-1'],
    ],
  ])('the objects of %s can be used', (document, expected) => {
    const parsed = objectsIn(document).map((object) => ({
      kind: object.kind,
      parsed:
        object.kind === 'TalosCluster' ? parseTalosCluster(object) : parseTalosMachine(object),
    }));
    expect(parsed.map(({ kind, parsed: { value } }) => `${kind} ${value.name}`)).toEqual(expected);
    expect(parsed.map((object) => object.parsed.kind)).toEqual(expected.map(() => 'valid'));
  });
});

describe('decision records', () => {
  const records = documents.filter((file) => file.startsWith('docs/adr/')).sort();

  test('are numbered without a gap', () => {
    expect(records.map((file) => Number(file.slice('docs/adr/'.length).split('-')[0]))).toEqual(
      records.map((_, index) => index + 1),
    );
  });

  test.each(records)('%s has the form of all', (record) => {
    const [, number = ''] = /(\d{4})-/.exec(record) ?? [];
    const lines = textOf(record).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^# ${number}\\. [A-Z]`));
    expect(lines[2]).toMatch(
      /^Status: (Accepted|Replaced by \d{4}).* · Date: \d{4}-\d\d-\d\d · Touches: (\d{4}(, )?)+$/,
    );
    expect(lines[4]).toMatch(/^Decided: /);
    expect(lines.filter((line) => line.startsWith('## '))).toEqual([
      '## Context',
      '## Decision',
      '## Rejected',
      '## Risks',
      '## Test',
    ]);
  });
});

describe('reasons', () => {
  test.each([
    ['### Denied', Object.keys(denyReasons)],
    ['### Pending', [...Object.keys(pendingReasons), ...operatorPendingReasons]],
    ['### Operational', [...operationalReasons]],
    ['### KubeletServingCertificates', [...certificatesReasons]],
  ])('the table under "%s" holds each reason of the code once', (heading, reasons) => {
    expect([...tableUnder(guide, heading)].sort()).toEqual([...reasons].sort());
  });
});

describe('commands', () => {
  test.each(documents)('npm scripts that %s names exist', (document) => {
    const named = [...textOf(document).matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, n = '']) => n);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test('CONTRIBUTING says what each npm script does', () => {
    const named = tableUnder(contributing, '## Commands').map((cell) =>
      cell.replace(/^npm (run )?/, ''),
    );
    expect(named.filter((name) => name !== '.ci/run').sort()).toEqual(Object.keys(scripts).sort());
  });

  test('CONTRIBUTING says what each variable of the repository does', () => {
    const read = files
      .filter((file) => /\.(ts|mjs)$/.test(file) && !file.endsWith('.test.ts'))
      .concat('packages/policy/src/decide-csr.laws.test.ts')
      .flatMap((file) => textOf(file).match(/\bICHOR_[A-Z_]+\b/g) ?? []);
    const named = tableUnder(contributing, '## Environment');
    expect(read).toContain('ICHOR_SEED');
    expect(named.filter((name) => name.startsWith('ICHOR_')).sort()).toEqual(
      [...new Set(read)].sort(),
    );
  });
});
