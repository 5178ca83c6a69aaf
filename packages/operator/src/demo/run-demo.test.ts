import { describe, expect, it } from 'vitest';
import { outcomeTable } from './outcome-table.ts';
import { runDemo } from './run-demo.ts';

describe('the demonstration', () => {
  it('ends as expected and shows why', async () => {
    let text = '';
    const write = (part: string) => {
      text += part;
    };
    expect(await runDemo({ write, columns: 120, colour: false })).toBe(0);
    expect(text).toContain('NameReserved: 10.5.0.100 is reserved.');
    expect(text).toContain('4 of 5 machines are certified');
    expect(text).not.toContain('✗');
  }, 30_000);
});

describe('outcomeTable', () => {
  const row = {
    who: 'system:node:a',
    asks: 'one two three',
    outcome: 'deny',
    why: 'NameReserved: 10.5.0.100 is reserved.',
    asExpected: true,
  } as const;

  it('wraps what is too long, and every line is equally wide', () => {
    const lines = outcomeTable([row, { ...row, why: 'x'.repeat(200) }], 80, false).split('\n');
    expect(new Set(lines.slice(0, -1).map((line) => line.length)).size).toBe(1);
  });

  it('marks an outcome that is not the expected one, and colours on request only', () => {
    expect(outcomeTable([{ ...row, asExpected: false }], 80, false)).toContain('✗');
    expect(outcomeTable([row], 80, false)).not.toContain('\u001b');
    expect(outcomeTable([row], 80, true)).toContain('\u001b[31mdenied\u001b[0m');
  });
});
