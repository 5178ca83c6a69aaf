import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Runs on Node 20 and without any package: it is what installs them.

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Installs what package-lock.json names where node_modules holds something else; exits on failure. */
export function ensureDependencies() {
  const difference = firstDifference();
  if (difference === undefined) return;
  console.log(`npm ci (${difference})`);
  const { status, error } = spawnSync('npm', ['ci'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    console.error(
      `The dependencies could not be installed (${error?.message ?? `npm ci ended with ${status}`}). ` +
        'Run "npm ci" by hand; it needs the network and the command npm.',
    );
    process.exit(1);
  }
}

/**
 * Why node_modules is not what package-lock.json describes, in a few words, or undefined. npm keeps a lock
 * file of what it installed inside node_modules, and the two are compared by version.
 */
export function firstDifference(directory = root) {
  const installedLock = join(directory, 'node_modules', '.package-lock.json');
  if (!existsSync(installedLock)) return 'nothing is installed yet';
  const wanted = packagesOf(join(directory, 'package-lock.json'));
  const installed = packagesOf(installedLock);
  for (const [path, { version, optional, link }] of Object.entries(wanted)) {
    if (!path.startsWith('node_modules/') || link === true) continue;
    const found = installed[path];
    // Optional packages are left out where they are for another platform.
    if (found === undefined && optional === true) continue;
    if (found?.version !== version) return `${path} is not ${version}`;
  }
  if (!existsSync(join(directory, 'node_modules', '.bin', 'node'))) return 'Node 24 is missing';
  return undefined;
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensureDependencies();
