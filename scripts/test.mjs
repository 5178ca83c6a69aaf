import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDependencies } from './ensure-dependencies.mjs';

// npm test: everything that needs the network first, then all tests in one run inside a namespace without
// any. With --unit only the tests that need neither Go nor namespaces. What follows is handed to vitest.
// Runs on Node 20 and without any package.

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binaries = join(root, 'node_modules', '.bin');
const node = join(binaries, 'node');
const vitest = [
  join(root, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  '--reporter=default',
  `--reporter=${join(root, 'scripts', 'closing-line-reporter.mjs')}`,
];

/**
 * The command that starts another one in new network, pid and mount namespaces, all of which end with it. An
 * ordinary user needs a user namespace around them.
 */
function namespaceCommand(isRoot) {
  const kinds = ['--net', '--pid', '--fork', '--mount-proc', '--kill-child'];
  return ['unshare', ...(isRoot ? [] : ['--user', '--map-root-user']), ...kinds];
}

/** The first thing that is missing for a full run, as a sentence that says what to do. */
function missingTool() {
  if (process.platform !== 'linux') {
    return 'The tests on real parts need Linux with network namespaces; "npm run test:unit" runs anywhere.';
  }
  const tools = [
    ['unshare', ['--version'], 'install the package util-linux'],
    ['ip', ['-Version'], 'install the package iproute2'],
    ['mount', ['--version'], 'install the package mount (part of util-linux)'],
    ['go', ['version'], 'install Go 1.26 or newer from https://go.dev/dl and put it on PATH'],
  ];
  for (const [tool, args, remedy] of tools) {
    if (spawnSync(tool, args).error !== undefined) {
      return `The tests on real parts need the command "${tool}": ${remedy}. "npm run test:unit" needs none of it.`;
    }
  }
  const [command, ...args] = namespaceCommand(process.getuid() === 0);
  const tried = spawnSync(command, [...args, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (tried.status !== 0) {
    return (
      `The tests on real parts need a network namespace, and none can be made here (${tried.stderr.trim()}): ` +
      'allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, ' +
      'kernel.apparmor_restrict_unprivileged_userns=0), or run as root, in a container with --privileged. ' +
      '"npm run test:unit" needs none of it.'
    );
  }
  return undefined;
}

function run(title, command, args) {
  if (title !== undefined) console.log(title);
  const path = `${binaries}${delimiter}${process.env.PATH}`;
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  if (error !== undefined) console.error(`${command}: ${error.message}`);
  return status ?? 1;
}

function runOrExit(title, command, args) {
  const status = run(title, command, args);
  if (status !== 0) process.exit(status);
}

const unitOnly = process.argv[2] === '--unit';
const handedOn = process.argv.slice(unitOnly ? 3 : 2);

if (unitOnly) {
  ensureDependencies();
  // Tests of the command line start it as a program of its own, which imports the compiled packages.
  runOrExit(undefined, join(binaries, 'tsc'), ['-b']);
  process.exit(run(undefined, node, [...vitest, '--project', 'unit', ...handedOn]));
}

const missing = missingTool();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
ensureDependencies();
runOrExit('Compiling', join(binaries, 'tsc'), ['-b']);
runOrExit('Real parts', node, [join(root, 'packages', 'testbed', 'src', 'build-parts.ts')]);
const [enter, ...enterArgs] = namespaceCommand(process.getuid() === 0);
const inside = ['sh', '-c', 'ip link set lo up && "$@"', 'sh', node, ...vitest, ...handedOn];
process.exit(run('Tests', enter, [...enterArgs, ...inside]));
