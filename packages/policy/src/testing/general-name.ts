import {
  characterString,
  contextTag,
  element,
  objectIdentifier,
  sequence,
  textBytes,
} from './der-writer.ts';
import { distinguishedName, type Rdn } from './distinguished-name.ts';
import { ipOctets } from './ip-octets.ts';

/**
 * One entry of a SAN: all nine kinds of RFC 5280 4.2.1.6, and `raw` for anything else. Texts are
 * written as UTF-8, whether or not the kind permits the characters.
 */
export type GeneralName =
  | { readonly kind: 'otherName'; readonly type: string; readonly value: Uint8Array }
  | { readonly kind: 'email'; readonly text: string }
  | { readonly kind: 'dns'; readonly text: string }
  | { readonly kind: 'x400Address'; readonly content: Uint8Array }
  | { readonly kind: 'directoryName'; readonly rdns: readonly Rdn[] }
  | { readonly kind: 'ediPartyName'; readonly party: string }
  | { readonly kind: 'uri'; readonly text: string }
  | { readonly kind: 'ip'; readonly address: string | Uint8Array }
  | { readonly kind: 'registeredId'; readonly oid: string }
  | { readonly kind: 'raw'; readonly bytes: Uint8Array };

/** A dNSName entry. */
export function dnsEntry(text: string): GeneralName {
  return { kind: 'dns', text };
}

/** An iPAddress entry, from text or from any number of octets. */
export function ipEntry(address: string | Uint8Array): GeneralName {
  return { kind: 'ip', address };
}

/** The element of one entry. */
export function generalName(name: GeneralName): Uint8Array {
  switch (name.kind) {
    case 'otherName':
      return contextTag(0, [objectIdentifier(name.type), contextTag(0, name.value, true)], true);
    case 'email':
      return contextTag(1, textBytes(name.text), false);
    case 'dns':
      return contextTag(2, textBytes(name.text), false);
    case 'x400Address':
      return contextTag(3, name.content, true);
    case 'directoryName':
      return contextTag(4, distinguishedName(name.rdns), true);
    case 'ediPartyName':
      return contextTag(5, contextTag(1, characterString('utf8', name.party), true), true);
    case 'uri':
      return contextTag(6, textBytes(name.text), false);
    case 'ip':
      return contextTag(
        7,
        typeof name.address === 'string' ? ipOctets(name.address) : name.address,
        false,
      );
    case 'registeredId':
      return element(0x88, objectIdentifier(name.oid).subarray(2));
    case 'raw':
      return name.bytes;
  }
}

/** GeneralNames: what the OCTET STRING of a SAN extension holds. */
export function generalNames(names: readonly GeneralName[]): Uint8Array {
  return sequence(...names.map(generalName));
}
