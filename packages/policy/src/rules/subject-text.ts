import { type Octets, textOfUtf8, utf8Octets } from '../octets.ts';
import type { NameAttribute } from '../parsed-csr.ts';

/**
 * The UTF-8 octets of a subject value that is exactly a text: a PrintableString of its own
 * characters (X.680, 41.4) or a UTF8String of well-formed UTF-8. Undefined for every other type and
 * for characters that the type does not have.
 */
export function exactText({ valueType, value }: NameAttribute): Octets | undefined {
  switch (valueType) {
    case 'PrintableString':
      return /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? value : undefined;
    case 'UTF8String':
      return textOfUtf8(value) === undefined ? undefined : value;
    default:
      return undefined;
  }
}

/**
 * The UTF-8 octets that a reader of any string type may take a subject value for. Wider than
 * `exactText` on purpose: it finds out whom a request names, and another spelling of a machine's
 * name still names it.
 */
export function apparentText({ valueType, value }: NameAttribute): Octets {
  switch (valueType) {
    case 'BMPString':
      return utf8Octets(wideText(value, 2));
    case 'UniversalString':
      return utf8Octets(wideText(value, 4));
    default:
      return value;
  }
}

function wideText(octets: Octets, width: number): string {
  let text = '';
  for (let index = 0; index + width <= octets.length; index += width) {
    let point = 0;
    for (let offset = 0; offset < width; offset++) {
      point = point * 256 + octets.charCodeAt(index + offset);
    }
    text += point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
  }
  return text;
}
