import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

  it('ends quietly where nobody reads on', async () => {
    const child = start(['manifests', '--image', 'ichor.example/ichor:test']);
    child.stdout.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});
