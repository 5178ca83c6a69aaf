import { buildPart } from './go-build.ts';
import { type PartName, partNames } from './go-parts.ts';

// Command: builds the parts named on the command line, or all of them, with one line of progress each.
// Exit codes: 0 built, 1 a build failed, 64 a name is not known.

const isPartName = (name: string): name is PartName =>
  (partNames as readonly string[]).includes(name);

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !isPartName(name));
if (unknown.length > 0) {
  console.error(
    `No testbed part is named ${unknown.join(', ')}. The parts are: ${partNames.join(', ')}.`,
  );
  process.exitCode = 64;
} else {
  const names = asked.length > 0 ? asked.filter(isPartName) : partNames;
  try {
    for (const name of names) await buildPart(name, { report: (line) => console.log(line) });
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
