/** Lines around a change that are printed with it. */
const context = 3;

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/**
 * The difference of two texts in unified format, as `diff -u` prints it; empty where they are the same. Of the
 * shortest differences it prints one. (Myers 1986, "An O(ND) difference algorithm")
 */
export function lineDifference(
  before: string,
  after: string,
  beforeName: string,
  afterName: string,
): string {
  if (before === after) return '';
  const lines = differenceOf(linesOf(before), linesOf(after));
  return `--- ${beforeName}\n+++ ${afterName}\n${hunksOf(lines)}`;
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  const last = lines.pop();
  return last === undefined || last === ''
    ? lines
    : [...lines, `${last}\n\\ No newline at end of file`];
}

function differenceOf(a: readonly string[], b: readonly string[]): readonly Line[] {
  const trace: Map<number, number>[] = [];
  let reach = new Map([[1, 0]]);
  for (let edits = 0; edits <= a.length + b.length; edits += 1) {
    trace.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      let x = startOf(reach, k, edits);
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trace);
    }
    reach = new Map(reach);
  }
  return [];
}

/** Furthest line of the first text per diagonal; what no edits reach is before the first line. */
type Reach = ReadonlyMap<number, number>;

/** Whether the furthest way to diagonal k with one more edit adds a line, instead of taking one away. */
function addsLine(reach: Reach, k: number, edits: number): boolean {
  return k === -edits || (k !== edits && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
}

/** The furthest line of the first text on diagonal k with one more edit. */
function startOf(reach: Reach, k: number, edits: number): number {
  return addsLine(reach, k, edits) ? (reach.get(k + 1) ?? -1) : (reach.get(k - 1) ?? -1) + 1;
}

function walkBack(
  a: readonly string[],
  b: readonly string[],
  trace: readonly Reach[],
): readonly Line[] {
  const lines: Line[] = [];
  let x = a.length;
  let y = b.length;
  const same = (untilX: number, untilY: number): void => {
    for (; x > untilX && y > untilY; x -= 1, y -= 1)
      lines.push({ sign: ' ', text: a[x - 1] ?? '' });
  };
  for (const [edits, reach] of [...trace.entries()].slice(1).reverse()) {
    const k = x - y;
    const adds = addsLine(reach, k, edits);
    const from = adds ? k + 1 : k - 1;
    const fromX = reach.get(from) ?? 0;
    const fromY = fromX - from;
    same(fromX, fromY);
    lines.push(adds ? { sign: '+', text: b[fromY] ?? '' } : { sign: '-', text: a[fromX] ?? '' });
    x = fromX;
    y = fromY;
  }
  same(0, 0);
  return lines.toReversed();
}

function hunksOf(lines: readonly Line[]): string {
  let text = '';
  let from = 0;
  while (from < lines.length) {
    const first = lines.findIndex(({ sign }, index) => index >= from && sign !== ' ');
    if (first === -1) break;
    let end = first;
    // Changes that are close share their context.
    for (let index = first; index < lines.length && index <= end + 2 * context; index += 1) {
      if (lines[index]?.sign !== ' ') end = index;
    }
    const start = Math.max(first - context, from);
    text += hunkText(lines, start, Math.min(end + 1 + context, lines.length));
    from = end + 1 + context;
  }
  return text;
}

function hunkText(lines: readonly Line[], start: number, end: number): string {
  const hunk = lines.slice(start, end);
  const range = (missing: '-' | '+'): string => {
    const first = lines.slice(0, start).filter(({ sign }) => sign !== missing).length;
    const count = hunk.filter(({ sign }) => sign !== missing).length;
    return `${count === 0 ? first : first + 1},${count}`;
  };
  const body = hunk.map(({ sign, text }) => `${sign}${text}\n`).join('');
  return `@@ -${range('+')} +${range('-')} @@\n${body}`;
}
