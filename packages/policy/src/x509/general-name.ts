import { contentOf, type Element, isUniversal, tagClass, universal } from '../der/element.ts';
import { malformed } from '../der/malformed.ts';
import { octetsOf } from '../octets.ts';
import type { SanEntry } from '../parsed-csr.ts';

const dnsNameTag = 2;
const ipAddressTag = 7;

/** Reads GeneralNames (RFC 5280, section 4.2.1.6) entry by entry; no type of name is left out. */
export function readGeneralNames(element: Element): readonly SanEntry[] {
  if (!isUniversal(element, universal.sequence)) malformed('the SAN is not a list of names');
  return element.children.map(readGeneralName);
}

function readGeneralName(element: Element): SanEntry {
  if (element.class !== tagClass.context) return { kind: 'other', tag: tagText(element) };
  if (element.tag !== dnsNameTag && element.tag !== ipAddressTag) {
    return { kind: 'other', tag: tagText(element) };
  }
  if (element.constructed) malformed('a name in the SAN is a string in constructed form');
  if (element.tag === dnsNameTag) {
    return { kind: 'dns', name: octetsOf(element.bytes, element.content, element.end) };
  }
  const octets = Array.from(contentOf(element));
  if (octets.length !== 4 && octets.length !== 16) {
    malformed(`an IP address in the SAN has ${octets.length} octets`);
  }
  return { kind: 'ip', octets };
}

const classNames = ['UNIVERSAL ', 'APPLICATION ', '', 'PRIVATE '] as const;

function tagText(element: Element): string {
  return `[${classNames[element.class]}${element.tag}]`;
}
