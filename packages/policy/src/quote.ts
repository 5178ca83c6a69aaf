const longestQuote = 120;

/**
 * A stranger's text in quotes, safe in a terminal, a log line and a condition: everything outside
 * printable ASCII is escaped, and what is long is cut.
 */
export function quote(text: string): string {
  return quoteUpTo(longestQuote, text);
}

/** The same with another length, in characters, at which it is cut. */
export function quoteUpTo(longest: number, text: string): string {
  let quoted = '';
  for (const character of text.slice(0, longest)) {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === '\\') quoted += `\\${character}`;
    else if (code >= 0x20 && code < 0x7f) quoted += character;
    else quoted += `\\u{${code.toString(16)}}`;
    if (quoted.length > longest) return `"${quoted}"...`;
  }
  return text.length > longest ? `"${quoted}"...` : `"${quoted}"`;
}

/** A few of many sentence parts, and how many were left out. */
export function joinSome(parts: readonly string[], most = 6): string {
  const shown = parts.slice(0, most).join('; ');
  return parts.length > most ? `${shown}; and ${parts.length - most} more` : shown;
}

/** A few machine names in quotes, and how many were left out. */
export function quoteMachines(machines: readonly string[]): string {
  return joinSome(
    machines.map((machine) => quote(machine)),
    3,
  );
}
