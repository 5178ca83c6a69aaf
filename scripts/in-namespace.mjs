import { prepareRealParts, runInNamespace } from './real-parts.mjs';

// Command: runs a program of this repository on real parts, "node scripts/in-namespace.mjs FILE [ARGUMENT ...]".

const program = process.argv.slice(2);
if (program.length === 0) {
  console.error('Name the program to run: node scripts/in-namespace.mjs FILE [ARGUMENT ...]');
  process.exitCode = 64;
} else {
  prepareRealParts();
  process.exitCode = runInNamespace(program);
}
