import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildPart, cacheDirectory, cacheKey } from './go-build.ts';

let directory: string;
let goDirectory: string;
let env: NodeJS.ProcessEnv;

// Stands for Go: it notes each build, takes a moment, and writes a file whose content tells which one it was.
const fakeGo = `#!/bin/sh
if [ "$1" = version ]; then echo "go version go1.26.8 linux/amd64"; exit 0; fi
echo "$*" >> "$FAKE_GO_LOG"
if [ -n "$FAKE_GO_FAILS" ]; then echo "main.go:1: it does not compile" >&2; exit 1; fi
sleep 0.3
while [ "$1" != -o ]; do shift; done
wc -l < "$FAKE_GO_LOG" > "$2"
`;

const builds = async (): Promise<number> =>
  (await readFile(join(directory, 'go.log'), 'utf8')).trimEnd().split('\n').length;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ichor-go-build-'));
  goDirectory = join(directory, 'go');
  await mkdir(join(goDirectory, 'fakecri'), { recursive: true });
  await mkdir(join(directory, 'bin'));
  await writeFile(join(goDirectory, 'fakecri', 'go.mod'), 'module example\n');
  await writeFile(join(goDirectory, 'fakecri', 'main.go'), 'package main\n');
  await writeFile(join(directory, 'bin', 'go'), fakeGo);
  await chmod(join(directory, 'bin', 'go'), 0o755);
  env = {
    PATH: `${join(directory, 'bin')}:${process.env['PATH']}`,
    ICHOR_TESTBED_CACHE: join(directory, 'cache'),
    FAKE_GO_LOG: join(directory, 'go.log'),
  };
});

afterEach(() => rm(directory, { recursive: true, force: true }));

describe('buildPart', () => {
  it('builds once and then serves from the cache', async () => {
    const lines: string[] = [];
    const report = (line: string) => lines.push(line.trim().replace(/\s+/g, ' '));
    const first = await buildPart('fakecri', { env, goDirectory, report });
    const second = await buildPart('fakecri', { env, goDirectory, report });

    expect(second).toBe(first);
    expect(await builds()).toBe(1);
    expect(lines).toEqual([
      'fakecri building ...',
      expect.stringMatching(/^fakecri built in \d+\.\d s$/),
      'fakecri cached',
    ]);
  });

  it('builds again when a source changes, but not when a test of it does', async () => {
    const first = await buildPart('fakecri', { env, goDirectory });
    await writeFile(join(goDirectory, 'fakecri', 'main_test.go'), 'package main\n');
    expect(await buildPart('fakecri', { env, goDirectory })).toBe(first);

    await writeFile(join(goDirectory, 'fakecri', 'main.go'), 'package main // changed\n');
    expect(await buildPart('fakecri', { env, goDirectory })).not.toBe(first);
    expect(await builds()).toBe(2);
  });

  it('builds one source against the module file of each part', async () => {
    await mkdir(join(goDirectory, 'talos-config'));
    await writeFile(join(goDirectory, 'talos-config', 'go.mod'), 'module example\n');
    const newest = await buildPart('talos-config-1.14', { env, goDirectory });
    const older = await buildPart('talos-config-1.13', { env, goDirectory });

    expect(older).not.toBe(newest);
    const [first, second] = (await readFile(join(directory, 'go.log'), 'utf8')).split('\n');
    expect(first).not.toContain('-modfile');
    expect(second).toContain('-modfile=talos-1.13.mod');
  });

  it('does the work once for two builders at the same time', async () => {
    const both = await Promise.all([
      buildPart('fakecri', { env, goDirectory }),
      buildPart('fakecri', { env, goDirectory }),
    ]);

    expect(both[0]).toBe(both[1]);
    expect(await builds()).toBe(1);
  });

  it('takes over a lock that its holder no longer touches', async () => {
    const path = await buildPart('fakecri', { env, goDirectory });
    await rm(path);
    await mkdir(`${path}.lock`);
    await utimes(`${path}.lock`, new Date(0), new Date(0));

    expect(await buildPart('fakecri', { env, goDirectory })).toBe(path);
    expect(await builds()).toBe(2);
  });

  it('drops what nobody asked for in a month, and nothing younger', async () => {
    const unused = await buildPart('fakecri', { env, goDirectory });
    await writeFile(join(goDirectory, 'fakecri', 'main.go'), 'package main // second\n');
    const used = await buildPart('fakecri', { env, goDirectory });
    await utimes(dirname(unused), new Date(0), new Date(0));
    await writeFile(join(goDirectory, 'fakecri', 'main.go'), 'package main // third\n');
    await buildPart('fakecri', { env, goDirectory });

    expect(existsSync(unused)).toBe(false);
    expect(existsSync(used)).toBe(true);
  });

  it('reports a failed build with the part and the compiler, and leaves nothing behind', async () => {
    const failing = { ...env, FAKE_GO_FAILS: '1' };
    await expect(buildPart('fakecri', { env: failing, goDirectory })).rejects.toThrow(
      /^Building the testbed part fakecri in .* failed.*it does not compile$/s,
    );
    await expect(buildPart('fakecri', { env, goDirectory })).resolves.toContain('fakecri');
  });

  it('says what to install when there is no Go', async () => {
    await expect(
      buildPart('fakecri', { env: { ...env, PATH: join(directory, 'cache') }, goDirectory }),
    ).rejects.toThrow(/no go command was found: install Go 1\.26 or newer/);
  });

  it('takes etcd from KUBEBUILDER_ASSETS where it is there, and nothing that envtest does not have', async () => {
    await writeFile(join(directory, 'bin', 'etcd'), '');
    await writeFile(join(directory, 'bin', 'fakecri'), '');
    const assets = { ...env, KUBEBUILDER_ASSETS: join(directory, 'bin') };

    expect(await buildPart('etcd', { env: assets, goDirectory })).toBe(
      join(directory, 'bin', 'etcd'),
    );
    expect(await buildPart('fakecri', { env: assets, goDirectory })).toContain(cacheDirectory(env));
  });
});

describe('cacheKey', () => {
  it('depends on the version of Go and on the flags', async () => {
    const part = { module: 'fakecri', package: '.', ldflags: '-s' };
    const at = join(goDirectory, 'fakecri');
    const key = await cacheKey(part, at, 'go1.26.8');

    expect(await cacheKey(part, at, 'go1.26.8')).toBe(key);
    expect(await cacheKey(part, at, 'go1.26.9')).not.toBe(key);
    expect(await cacheKey({ ...part, ldflags: '-w' }, at, 'go1.26.8')).not.toBe(key);
    expect(await cacheKey({ ...part, modfile: 'old.mod' }, at, 'go1.26.8')).not.toBe(key);
  });
});

describe('cacheDirectory', () => {
  it('prefers its own variable, then the XDG directory', () => {
    expect(cacheDirectory({ ICHOR_TESTBED_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a');
    expect(cacheDirectory({ XDG_CACHE_HOME: '/b' })).toBe('/b/ichor/testbed');
    expect(cacheDirectory({})).toMatch(/\/\.cache\/ichor\/testbed$/);
  });
});
