/** Tells a person at a terminal what happens, and keeps count of what did not come out as expected. */
export type Narrator = {
  /** Begins a step; steps are numbered. */
  step(title: string): void;
  /** A paragraph, wrapped. */
  say(text: string): void;
  /** A command as it would be typed, and what it printed. */
  ran(command: string, output: string): void;
  /** Rows as a table under the given headings. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void;
  /** Says whether something is as expected; what was seen instead is printed where it is not. */
  expect(what: string, holds: boolean, seen?: unknown): void;
  /** How many expectations were met and how many were not. */
  count(): { readonly met: number; readonly missed: number };
  /** Seconds since the start, such as `12.3 s`. */
  elapsed(): string;
};

/** Where a narrator writes to. */
export type NarratorOutput = {
  readonly write: (text: string) => void;
  /** Width of the terminal in characters. */
  readonly columns: number;
  /** Whether the terminal shows ANSI colours. */
  readonly colour: boolean;
};

const code = { bold: 1, dim: 2, red: 31, green: 32, cyan: 36 } as const;
const margin = '  ';

/** A narrator whose clock starts now. */
export function createNarrator({ write, columns, colour }: NarratorOutput): Narrator {
  const startedAt = performance.now();
  const width = Math.max(60, Math.min(columns, 120));
  const paint = (text: string, how: keyof typeof code): string =>
    colour ? `\u001b[${code[how]}m${text}\u001b[0m` : text;
  const elapsed = (): string => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  const indented = (text: string): string =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => (line.trim() === '' ? '\n' : `${margin}${line}\n`))
      .join('');
  let steps = 0;
  let afterBlank = false;
  const put = (text: string): void => {
    write(text);
    afterBlank = text.endsWith('\n\n');
  };
  /** Text with a blank line before and after it. */
  const putApart = (text: string): void => put(`${afterBlank ? '' : '\n'}${text}\n`);
  let met = 0;
  let missed = 0;

  return {
    step(title) {
      steps += 1;
      const left = `${steps}. ${title}`;
      const time = elapsed().padStart(Math.max(1, width - left.length));
      putApart(`${paint(left, 'bold')}${paint(time, 'dim')}\n`);
    },
    say(text) {
      putApart(indented(wrapped(text, width - margin.length)));
    },
    ran(command, output) {
      putApart(`${margin}${paint(`$ ${command}`, 'cyan')}
${indented(output)}`);
    },
    table(headings, rows) {
      const widths = headings.map((heading, column) =>
        Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
      );
      const line = (cells: readonly string[]): string =>
        cells
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('   ')
          .trimEnd();
      putApart(`${margin}${paint(line(headings), 'dim')}\n${indented(rows.map(line).join('\n'))}`);
    },
    expect(what, holds, seen) {
      if (holds) {
        met += 1;
        put(`${margin}${paint('✓', 'green')} ${what}\n`);
        return;
      }
      missed += 1;
      const instead = typeof seen === 'string' ? seen.trim() : JSON.stringify(seen);
      put(`${margin}${paint('✗', 'red')} ${what}\n${indented(`  Seen instead: ${instead}`)}`);
    },
    count: () => ({ met, missed }),
    elapsed,
  };
}

/** Breaks lines between words where they are longer than `width`; words that are longer stay whole. */
function wrapped(text: string, width: number): string {
  return text.replace(new RegExp(`(?=.{${width + 1}})(.{1,${width}})\\s+`, 'gu'), '$1\n');
}
