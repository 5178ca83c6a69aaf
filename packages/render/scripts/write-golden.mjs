// Rewrites the golden files of rendering and then fails, so that it can never stand where a test belongs.
// Build @ichor/render first.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goldenCases, goldenText } from '../dist/testing/golden-files.js';

const folder = new URL('../testdata/', import.meta.url);
const expected = new Map(goldenCases().map((one) => [one.file, goldenText(one)]));
let changed = 0;

const kept = readdirSync(folder, { recursive: true }).filter((name) =>
  /^v[^/]*\/.*\.yaml$/.test(name),
);
for (const name of kept.filter((one) => !expected.has(one))) {
  rmSync(new URL(name, folder));
  console.log(`removed ${name}`);
  changed += 1;
}
for (const [name, text] of expected) {
  const file = new URL(name, folder);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  mkdirSync(dirname(fileURLToPath(file)), { recursive: true });
  writeFileSync(file, text);
  console.log(`wrote ${name}`);
  changed += 1;
}
console.error(
  `${changed} of ${expected.size} golden files changed; review them, then run the tests.`,
);
process.exitCode = 1;
