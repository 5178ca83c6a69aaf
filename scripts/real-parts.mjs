import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDependencies } from './ensure-dependencies.mjs';

// What a command on real parts needs before it can run. Runs on Node 20 and without any package.

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binaries = join(root, 'node_modules', '.bin');

/** Path of a file of the repository. */
export const inRoot = (...parts) => join(root, ...parts);

/** Path of the Node that the repository's packages install, which is the one that its programs run on. */
export const node = join(binaries, 'node');

/** Runs a command with the packages' programs first on PATH; returns its exit code. */
export function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${binaries}${delimiter}${process.env.PATH}` },
  });
  if (error !== undefined) console.error(`${command}: ${error.message}`);
  return status ?? 1;
}

/** Compiles the packages; exits where that fails. */
export function compile() {
  ensureDependencies();
  exitUnlessZero(run(join(binaries, 'tsc'), ['-b']));
}

/**
 * Does everything that needs the network: checks the machine's tools, installs, compiles and builds the real
 * parts. Exits with a sentence that says what to do where something is missing.
 */
export function prepareRealParts() {
  const missing = missingTool();
  if (missing !== undefined) {
    console.error(missing);
    process.exit(1);
  }
  console.log('Compiling');
  compile();
  console.log('Real parts');
  exitUnlessZero(run(node, [inRoot('packages', 'testbed', 'src', 'build-parts.ts')]));
}

/** Runs Node with these arguments in a namespace without any network but loopback; returns its exit code. */
export function runInNamespace(nodeArgs) {
  // Ctrl-C reaches the whole group; this process ends when what it runs has cleaned up.
  process.on('SIGINT', () => undefined);
  const [enter, ...enterArgs] = namespaceCommand();
  const inside = ['sh', '-c', 'ip link set lo up && "$@"', 'sh', node, ...nodeArgs];
  return run(enter, [...enterArgs, ...inside]);
}

/**
 * The command that starts another one in new network, pid and mount namespaces, all of which end with it. An
 * ordinary user needs a user namespace around them.
 */
function namespaceCommand() {
  const kinds = ['--net', '--pid', '--fork', '--mount-proc', '--kill-child'];
  return ['unshare', ...(process.getuid() === 0 ? [] : ['--user', '--map-root-user']), ...kinds];
}

/** The first thing that is missing on this machine, as a sentence that says what to do. */
function missingTool() {
  const otherwise = '"npm run test:unit" and "npm run demo" need none of it.';
  if (process.platform !== 'linux') {
    return `The real parts need Linux with network namespaces. ${otherwise}`;
  }
  const tools = [
    ['unshare', ['--version'], 'install the package util-linux'],
    ['mount', ['--version'], 'install the package mount (part of util-linux)'],
    ['ip', ['-Version'], 'install the package iproute2'],
    ['go', ['version'], 'install Go 1.26 or newer from https://go.dev/dl and put it on PATH'],
  ];
  for (const [tool, args, remedy] of tools) {
    if (spawnSync(tool, args).error !== undefined) {
      return `The real parts need the command "${tool}": ${remedy}. ${otherwise}`;
    }
  }
  const [command, ...args] = namespaceCommand();
  const tried = spawnSync(command, [...args, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (tried.status !== 0) {
    return (
      `The real parts need a network namespace, and none can be made here (${tried.stderr.trim()}): ` +
      'allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1 or ' +
      'kernel.apparmor_restrict_unprivileged_userns=0), run as root, or give the container --privileged. ' +
      otherwise
    );
  }
  return undefined;
}

function exitUnlessZero(status) {
  if (status !== 0) process.exit(status);
}
