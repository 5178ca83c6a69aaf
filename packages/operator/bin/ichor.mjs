#!/usr/bin/env node
// Says in one sentence what is wrong where the build would fail with a stack trace.
import { existsSync } from 'node:fs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const main = new URL('../dist/commands/main.js', import.meta.url);

if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`ichor needs Node.js 22.19 or newer, and this is ${process.versions.node}.`);
  process.exitCode = 64;
} else if (!existsSync(main)) {
  console.error("ichor is not built: run 'npm run build' first.");
  process.exitCode = 64;
} else {
  const { runCommandLine } = await import(main.href);
  process.exitCode = await runCommandLine(process.argv.slice(2));
}
