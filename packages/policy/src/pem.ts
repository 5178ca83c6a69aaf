import { decodeBase64Codes } from './base64.ts';

/** The DER of a block, or a sentence part that says what is wrong with the text. */
export type PemReading =
  | { readonly kind: 'block'; readonly der: Uint8Array }
  | { readonly kind: 'problem'; readonly problem: string };

const begin = '-----BEGIN CERTIFICATE REQUEST-----';
const end = '-----END CERTIFICATE REQUEST-----';

/**
 * Reads a text that is one PEM block of type CERTIFICATE REQUEST and nothing else (the strict form
 * of RFC 7468, section 3): white space, the BEGIN line, lines of base64 of any length, the END
 * line, white space. No headers, no second block, no byte order mark.
 */
export function readRequestBlock(text: Uint8Array): PemReading {
  let at = skipWhiteSpace(text, 0);
  if (at === text.length) return problem('it is empty');
  if (!startsWith(text, at, begin)) {
    return problem(`it does not begin with ${begin}`);
  }
  at = endOfLine(text, at + begin.length);
  if (at < 0) return problem('the BEGIN line holds more than the label');
  const body = new Uint8Array(text.length - at);
  let digits = 0;
  while (!startsWith(text, at, end)) {
    const start = at;
    while (isBase64Code(text[at])) body[digits++] = text[at++] ?? 0;
    if (at === start) return problem('a line between BEGIN and END holds no base64');
    at = endOfLine(text, at);
    if (at < 0) return problem('a line between BEGIN and END holds more than base64');
  }
  if (skipWhiteSpace(text, at + end.length) !== text.length) {
    return problem('something other than white space follows the END line');
  }
  const der = decodeBase64Codes(body.subarray(0, digits));
  if (der === undefined) return problem('the base64 between BEGIN and END is not canonical');
  if (der.length === 0) return problem('nothing stands between BEGIN and END');
  return { kind: 'block', der };
}

const problem = (text: string): PemReading => ({ kind: 'problem', problem: text });

function skipWhiteSpace(text: Uint8Array, from: number): number {
  let at = from;
  // Tab, line feed, vertical tab, form feed and carriage return are 9 to 13.
  while (at < text.length && (text[at] === 0x20 || isControlSpace(text[at]))) at++;
  return at;
}

const isControlSpace = (code: number | undefined): boolean =>
  code !== undefined && code >= 0x09 && code <= 0x0d;

function startsWith(text: Uint8Array, at: number, label: string): boolean {
  if (at + label.length > text.length) return false;
  for (let index = 0; index < label.length; index++) {
    if (text[at + index] !== label.charCodeAt(index)) return false;
  }
  return true;
}

/** Where the next line starts if a line ends at `at`, else -1. */
function endOfLine(text: Uint8Array, at: number): number {
  if (text[at] === 0x0a) return at + 1;
  return text[at] === 0x0d && text[at + 1] === 0x0a ? at + 2 : -1;
}

function isBase64Code(code: number | undefined): boolean {
  if (code === undefined) return false;
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x2b ||
    code === 0x2f ||
    code === 0x3d
  );
}
