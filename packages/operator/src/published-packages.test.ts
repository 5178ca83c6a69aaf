import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

// What npm packs of each package is said by its package.json and by the files beside it.

const root = fileURLToPath(new URL('../../../', import.meta.url));
const manifestOf = (name: string) =>
  JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
const published = readdirSync(join(root, 'packages')).filter(
  (name) =>
    existsSync(join(root, 'packages', name, 'package.json')) && manifestOf(name).private !== true,
);

it('all packages but the testbed are published', () => {
  expect(published).toEqual(['k8s-adapter', 'operator', 'policy', 'render', 'talos-client']);
});

describe.each(published)('@ichor/%s', (name) => {
  const directory = join(root, 'packages', name);

  it('carries the license and says what it is', () => {
    const license = readFileSync(join(directory, 'LICENSE'), 'utf8');
    expect(license).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
    expect(readFileSync(join(directory, 'README.md'), 'utf8')).toContain(`# @ichor/${name}\n`);
  });

  it('leaves tests and the state of the compiler out', () => {
    const { files } = manifestOf(name);
    expect(files).toContain('!src/**/*.test.ts');
    expect(files.indexOf('!dist/**/*.tsbuildinfo')).toBeGreaterThan(files.indexOf('dist'));
  });

  it('names the types of an entry after its narrower conditions, of which the first match wins', () => {
    for (const entry of Object.values<object>(manifestOf(name).exports)) {
      const conditions = Object.keys(entry);
      expect(conditions.slice(-2)).toEqual(['types', 'default']);
    }
  });
});
