import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type GoPart, goParts, type PartName } from './go-parts.ts';

/** Where parts come from and where they are kept. */
export type BuildOptions = {
  /** Environment read for `ICHOR_TESTBED_CACHE`, `XDG_CACHE_HOME` and `KUBEBUILDER_ASSETS`; default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  /** Called once per part with a finished line for the terminal. */
  readonly report?: (line: string) => void;
  /** Directory that holds the Go modules; default the one of this package. */
  readonly goDirectory?: string;
};

/** Programs that `KUBEBUILDER_ASSETS` may supply, the set that controller-runtime's envtest defines. */
const envtestParts: ReadonlySet<PartName> = new Set(['etcd', 'kube-apiserver', 'kubectl']);

// The compiled file lies in dist/, the source in src/: both are one level below the package.
const ownGoDirectory = fileURLToPath(new URL('../go/', import.meta.url));
const buildFlags = ['-trimpath'];
const lockBeatMs = 2_000;
const lockStaleMs = 30_000;
const unusedMs = 30 * 24 * 3_600_000;
const installHint = 'install Go 1.26 or newer (https://go.dev/dl) and put it on PATH';

/**
 * Directory in which built parts are kept: `ICHOR_TESTBED_CACHE`, else `ichor/testbed` under the user's
 * cache directory (XDG Base Directory Specification).
 */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const own = env['ICHOR_TESTBED_CACHE'];
  if (own !== undefined && own !== '') return resolve(own);
  const xdg = env['XDG_CACHE_HOME'];
  return join(
    xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache'),
    'ichor',
    'testbed',
  );
}

/**
 * Returns the path of a part's program and builds it first where the cache does not hold it.
 *
 * The cache key covers the module's go.mod and go.sum, its own sources, the flags and the version of Go, so
 * that a stale program is never run. Two builders at once do the work once.
 *
 * @throws Error with one sentence that names the part and says what to do: Go is missing, or the build
 *   failed (with the compiler's last lines).
 */
export async function buildPart(name: PartName, options: BuildOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const report = options.report ?? (() => undefined);
  const supplied = suppliedPart(name, env);
  if (supplied !== undefined) {
    report(progressLine(name, `from KUBEBUILDER_ASSETS (${supplied})`));
    return supplied;
  }

  const part = goParts[name];
  const directory = join(options.goDirectory ?? ownGoDirectory, part.module);
  if (!existsSync(join(directory, 'go.mod'))) {
    throw new Error(`The testbed part ${name} cannot be built: ${directory} holds no go.mod.`);
  }
  const target = join(
    cacheDirectory(env),
    `${name}-${await cacheKey(part, directory, await localGoVersion(env))}`,
    name,
  );
  if (existsSync(target)) {
    report(progressLine(name, 'cached'));
    await touch(dirname(target));
    return target;
  }
  await mkdir(dirname(target), { recursive: true });
  const release = await acquireLock(`${target}.lock`, () => existsSync(target));
  try {
    if (existsSync(target)) {
      report(progressLine(name, 'built by another process'));
      return target;
    }
    report(progressLine(name, 'building ...'));
    const started = performance.now();
    await compile(name, part, directory, target, env);
    await dropUnused(name, cacheDirectory(env));
    report(progressLine(name, `built in ${((performance.now() - started) / 1000).toFixed(1)} s`));
  } finally {
    await release();
  }
  return target;
}

/** Builds several parts one after another (one Go build already uses every core); same errors as {@link buildPart}. */
export async function buildParts(
  names: readonly PartName[],
  options: BuildOptions = {},
): Promise<Readonly<Partial<Record<PartName, string>>>> {
  const paths: Partial<Record<PartName, string>> = {};
  for (const name of names) paths[name] = await buildPart(name, options);
  return paths;
}

/** The path of a program that `KUBEBUILDER_ASSETS` supplies, where it is set and the file is there. */
export function suppliedPart(name: PartName, env: NodeJS.ProcessEnv): string | undefined {
  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets === undefined || assets === '' || !envtestParts.has(name)) return undefined;
  const file = join(assets, name);
  return existsSync(file) ? file : undefined;
}

/**
 * First 16 hex digits of the SHA-256 over everything that decides what comes out of a build: the module's
 * files but its tests, the package, the flags and Go's version.
 */
export async function cacheKey(
  part: GoPart,
  directory: string,
  goVersion: string,
): Promise<string> {
  const hash = createHash('sha256');
  const inputs = [part.package, part.ldflags, ...flagsOf(part), goVersion];
  for (const input of inputs) hash.update(`${input}\0`);
  for (const file of await moduleFiles(directory)) {
    const content = await readFile(file);
    hash.update(`${relative(directory, file)}\0${content.length}\0`);
    hash.update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

function flagsOf({ modfile }: GoPart): readonly string[] {
  return modfile === undefined ? buildFlags : [...buildFlags, `-modfile=${modfile}`];
}

async function moduleFiles(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('_test.go'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function localGoVersion(env: NodeJS.ProcessEnv): Promise<string> {
  try {
    // Asked outside of any module: inside one, Go may want to download the toolchain that go.mod names.
    return (await promisify(execFile)('go', ['version'], { cwd: tmpdir(), env })).stdout.trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'ENOENT'
        ? `The testbed builds its parts with Go, and no go command was found: ${installHint}.`
        : `The command "go version" failed (${message.trim()}): ${installHint}.`,
    );
  }
}

async function compile(
  name: PartName,
  part: GoPart,
  directory: string,
  target: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const unfinished = `${target}.${process.pid}.unfinished`;
  const args = [
    'build',
    ...flagsOf(part),
    '-ldflags',
    part.ldflags,
    '-o',
    unfinished,
    part.package,
  ];
  const child = spawn('go', args, {
    cwd: directory,
    // A workspace file or module flags of the user's must not change what is built.
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false -mod=readonly', GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = (stderr + chunk).slice(-4_000);
  });
  const code = await new Promise<number | string>((done, fail) => {
    child.once('error', fail);
    child.once('close', (exitCode, signal) => done(exitCode ?? signal ?? 'unknown'));
  });
  if (code !== 0) {
    await rm(unfinished, { force: true });
    const tail = stderr.trim().split('\n').slice(-12).join('\n');
    throw new Error(
      `Building the testbed part ${name} in ${directory} failed (go build: ${code}). ` +
        `The first build needs the network; run "npm test" once outside of any namespace.\n${tail}`,
    );
  }
  await rename(unfinished, target);
}

/**
 * Takes a lock that is a directory. A holder shows that it lives by touching it, which works across pid
 * namespaces where asking for a process does not.
 */
async function acquireLock(path: string, isDone: () => boolean): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await mkdir(path);
      const beat = setInterval(() => void touch(path), lockBeatMs);
      beat.unref();
      return async () => {
        clearInterval(beat);
        await rm(path, { recursive: true, force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (isDone()) return async () => undefined;
    const touched = await stat(path).then(
      (found) => found.mtimeMs,
      () => undefined,
    );
    if (touched !== undefined && Date.now() - touched > lockStaleMs) {
      await rm(path, { recursive: true, force: true });
    } else {
      await sleep(500);
    }
  }
}

/** Removes builds of a part that nobody has asked for in a month; each weighs up to 120 MB. */
async function dropUnused(name: PartName, cache: string): Promise<void> {
  const ofThisPart = new RegExp(`^${name}-[0-9a-f]{16}$`);
  for (const entry of await readdir(cache)) {
    if (!ofThisPart.test(entry)) continue;
    const { mtimeMs } = await stat(join(cache, entry));
    if (Date.now() - mtimeMs > unusedMs) await rm(join(cache, entry), { recursive: true });
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
}

function progressLine(name: PartName, what: string): string {
  return `  ${name.padEnd(24)} ${what}`;
}
