import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDependencies } from './ensure-dependencies.mjs';

// npm run demo: installs and builds what is needed, then shows what the operator does, without a cluster.
// Runs on Node 20 and without any package.

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binaries = join(root, 'node_modules', '.bin');
const node = join(binaries, 'node');

ensureDependencies();
run(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', 'packages/operator');
run(join(root, 'packages', 'operator', 'bin', 'ichor.mjs'), 'demo');

/** Runs a program with the project's Node; ends with its exit code where that is not 0. */
function run(...program) {
  const { status, error } = spawnSync(node, program, { cwd: root, stdio: 'inherit' });
  if (status === 0) return;
  if (error !== undefined) console.error(`${program[0]} could not be started: ${error.message}`);
  process.exit(status ?? 1);
}
