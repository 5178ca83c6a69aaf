import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { version } from './version.ts';

// The program as it is installed, in a process of its own; it needs the compiled packages.

const program = fileURLToPath(new URL('../../bin/ichor.mjs', import.meta.url));

/** Makes the process believe that it is another version of Node. */
const pretending = (node: string): string =>
  `data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`,
  )}`;

function start(args: readonly string[], node?: string) {
  const options = node === undefined ? [] : ['--import', pretending(node)];
  return spawn(process.execPath, [...options, program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  });
}

async function run(args: readonly string[], node?: string) {
  const child = start(args, node);
  const closed = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await closed;
  return { code, out, err };
}

describe('bin/ichor.mjs', { timeout: 30_000 }, () => {
  it.each(['22.18.0', '20.19.5', '18.20.8'])('says on Node %s what it needs', async (node) => {
    expect(await run(['--version'], node)).toEqual({
      code: 64,
      out: '',
      err: `ichor needs Node.js 22.19 or newer, and this is ${node}.\n`,
    });
  });

  it.each([['22.19.0'], ['24.0.0']])('runs on Node %s', async (node) => {
    expect(await run(['--version'], node)).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  it('ends with the exit code of the command, and its errors on standard error', async () => {
    expect(await run(['decide'])).toEqual({
      code: 64,
      out: '',
      err: 'ichor decide: --csr is missing; give a file, or - for standard input.\n',
    });
  });

  it('does not end as a decision does where its output cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const args = ['manifests', '--image', 'ichor.example/ichor:test'];
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    const closed = once(child, 'close');
    const err = await text(child.stderr as Readable);
    expect({ code: (await closed)[0], err }).toEqual({
      code: 64,
      err: 'ichor: the output cannot be written (ENOSPC); free its place.\n',
    });
  });

  it('refuses a file without an end', async () => {
    const { code, err } = await run(['decide', '--csr', '/dev/zero', '--identity', '/dev/null']);
    expect({ code, err }).toEqual({
      code: 64,
      err: 'ichor decide: /dev/zero is larger than 64 MiB; give a smaller file.\n',
    });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends at %s while it waits for its input',
    async (signal) => {
      const args = ['decide', '--csr', '-', '--identity', '/dev/null'];
      const script = `process.stdin.on('newListener', (event) => {
        if (event === 'readable') setImmediate(() => process.kill(process.pid, '${signal}'));
      })`;
      const early = ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
      const child = spawn(process.execPath, [...early, program, ...args], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const [code, by] = await once(child, 'close');
      expect({ code, by }).toEqual({ code: null, by: signal });
    },
  );

  it('ends quietly where nobody reads on', async () => {
    const child = start(['manifests', '--image', 'ichor.example/ichor:test']);
    child.stdout.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});
