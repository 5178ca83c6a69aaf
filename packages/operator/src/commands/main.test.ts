import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ichor } from '../testing/command-line.ts';

const names = ['run', 'decide', 'render', 'manifests', 'demo'];

describe('ichor', () => {
  it.each([[['--help']], [['-h']], [['help']]])('%j lists every command', async (args) => {
    const { code, out, err } = await ichor(args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const name of names) expect(out).toMatch(new RegExp(`^ {2}${name} +\\w`, 'm'));
    expect(out).toContain('Exit codes: 0 approved or done, 1 denied or a difference found');
  });

  it.each([[['--version']], [['version']]])(
    '%j prints the version of the package',
    async (args) => {
      const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
      expect(await ichor(args)).toEqual({ code: 0, out: `${JSON.parse(text).version}\n`, err: '' });
    },
  );

  it('without a command shows how it is used, as an error', async () => {
    const { code, out, err } = await ichor([]);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain('Usage: ichor COMMAND [FLAGS]');
  });

  it('quotes a command that does not exist', async () => {
    expect(await ichor(['aprove\n'])).toEqual({
      code: 64,
      out: '',
      err: `ichor: there is no command "aprove\\n"; see 'ichor --help'.\n`,
    });
  });
});

describe.each(names)('ichor %s', (name) => {
  it.each(['--help', '-h'])('%s describes every flag and the exit codes', async (flag) => {
    const { code, out, err } = await ichor([name, flag]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^Usage: ichor ${name}`));
    expect(out).toContain('-h, --help');
    expect(out).toContain('Exit codes: 0 ');
    // Terminals are 80 to 120 columns wide.
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
  });

  it('names a flag that it does not know', async () => {
    const { code, out, err } = await ichor([name, '--frobnicate']);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toBe(`ichor ${name}: Unknown option '--frobnicate'; see 'ichor ${name} --help'.\n`);
  });

  it('shows nothing of a flag that a terminal would obey, and not all of a long one', async () => {
    const { code, err } = await ichor([name, `--\u001b[2J${'x'.repeat(10_000)}`]);
    expect(code).toBe(64);
    expect(err).toMatch(/^ichor \w+: Unknown option '--\\u\{1b\}\[2Jx+…\n$/);
    expect(err.length).toBeLessThan(1100);
  });

  it('names an argument that belongs to no flag', async () => {
    const { code, err } = await ichor([name, 'something']);
    expect(code).toBe(64);
    expect(err).toContain(`Unexpected argument 'something'`);
    expect(err).toMatch(new RegExp(`; see 'ichor ${name} --help'\\.\\n$`));
  });
});
