/** One line of the table. */
export interface OutcomeRow {
  readonly who: string;
  readonly asks: string;
  readonly outcome: 'approve' | 'deny' | 'pending' | 'untouched';
  readonly why: string;
  readonly asExpected: boolean;
}

const words = {
  approve: 'approved',
  deny: 'denied',
  pending: 'pending',
  untouched: 'untouched',
} as const;
const colours = { approve: 32, deny: 31, pending: 33, untouched: 36 } as const;

/**
 * Draws outcomes as a table of the given width, long texts wrapped.
 *
 * @param columns width in characters
 * @param colour whether the terminal shows ANSI colours
 */
export function outcomeTable(
  rows: readonly OutcomeRow[],
  columns: number,
  colour: boolean,
): string {
  const who = Math.max(...rows.map((row) => row.who.length), 3);
  const outcome = 9;
  // Four columns, a mark and the borders share the width.
  const rest = Math.max(40, Math.min(columns, 150) - who - outcome - 15);
  const asks = Math.floor(rest * 0.4);
  const why = rest - asks;
  const rule = (left: string, middle: string, right: string) =>
    `${left}${[who, asks, outcome, why, 1].map((w) => '─'.repeat(w + 2)).join(middle)}${right}\n`;
  const line = (cells: readonly (readonly [string, number])[]) =>
    `│${cells.map(([text, width]) => ` ${padded(text, width)} `).join('│')}│\n`;

  let table = rule('┌', '┬', '┐');
  table += line([
    ['who', who],
    ['asks for', asks],
    ['outcome', outcome],
    ['why', why],
    [' ', 1],
  ]);
  for (const row of rows) {
    table += rule('├', '┼', '┤');
    for (const cells of linesOf(row, asks, why, colour)) {
      table += line([
        [cells[0], who],
        [cells[1], asks],
        [cells[2], outcome],
        [cells[3], why],
        [cells[4], 1],
      ]);
    }
  }
  return table + rule('└', '┴', '┘');
}

type Cells = readonly [string, string, string, string, string];

function linesOf(row: OutcomeRow, asks: number, why: number, colour: boolean): readonly Cells[] {
  const asksLines = wrapped(row.asks, asks);
  const whyLines = wrapped(row.why, why);
  const mark = row.asExpected ? '✓' : painted('✗', 31, colour);
  const height = Math.max(asksLines.length, whyLines.length);
  return Array.from({ length: height }, (_, index): Cells => {
    const rest = [asksLines[index] ?? '', whyLines[index] ?? ''] as const;
    return index === 0
      ? [row.who, rest[0], painted(words[row.outcome], colours[row.outcome], colour), rest[1], mark]
      : ['', rest[0], '', rest[1], ''];
  });
}

function painted(text: string, code: number, colour: boolean): string {
  return colour && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text;
}

function padded(text: string, width: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes take no room
  const visible = text.replace(/\u001b\[\d+m/g, '').length;
  return text + ' '.repeat(Math.max(0, width - visible));
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of text.split(' ')) {
    for (const piece of word.match(new RegExp(`.{1,${width}}`, 'gu')) ?? ['']) {
      if (current === '') current = piece;
      else if (current.length + 1 + piece.length <= width) current += ` ${piece}`;
      else {
        lines.push(current);
        current = piece;
      }
    }
  }
  lines.push(current);
  return lines;
}
