import { contentOf, type Element, isUniversal, tagClass, universal } from '../der/element.ts';
import { malformed } from '../der/malformed.ts';
import { dottedOid } from '../der/object-identifier.ts';
import { isSortedSetOf } from '../der/set-order.ts';
import { hexOf, octetsOf } from '../octets.ts';
import type { NameAttribute, NameValueType, RelativeDistinguishedName } from '../parsed-csr.ts';

/** Reads a Name (RFC 5280, section 4.1.2.4): every RDN, every attribute of each, undecoded. */
export function readDistinguishedName(
  element: Element | undefined,
): readonly RelativeDistinguishedName[] {
  if (!isUniversal(element, universal.sequence)) malformed('the subject is not a Name');
  return element.children.map(readRelativeName);
}

function readRelativeName(element: Element): RelativeDistinguishedName {
  if (!isUniversal(element, universal.set)) malformed('an RDN of the subject is not a SET');
  if (!isSortedSetOf(element.children)) {
    malformed('the attributes of an RDN are not in their order');
  }
  return element.children.map(readNameAttribute);
}

function readNameAttribute(element: Element): NameAttribute {
  const [type, value, surplus] = element.children;
  if (
    !isUniversal(element, universal.sequence) ||
    !isUniversal(type, universal.objectIdentifier) ||
    value === undefined ||
    surplus !== undefined
  ) {
    malformed('an attribute of the subject is not a type and a value');
  }
  return {
    type: dottedOid(contentOf(type)),
    valueType: valueTypeOf(value),
    value: octetsOf(value.bytes, value.content, value.end),
  };
}

const stringTypes: ReadonlyMap<number, NameValueType> = new Map<number, NameValueType>([
  [universal.utf8String, 'UTF8String'],
  [universal.numericString, 'NumericString'],
  [universal.printableString, 'PrintableString'],
  [universal.teletexString, 'TeletexString'],
  [universal.ia5String, 'IA5String'],
  [universal.visibleString, 'VisibleString'],
  [universal.universalString, 'UniversalString'],
  [universal.bmpString, 'BMPString'],
]);

function valueTypeOf(value: Element): NameValueType {
  const known = value.class === tagClass.universal ? stringTypes.get(value.tag) : undefined;
  // An identifier is a few octets, unless somebody plays with tag numbers.
  const identifierEnd = Math.min(value.start + 4, value.content);
  return known ?? `other ${hexOf(octetsOf(value.bytes, value.start, identifierEnd))}`;
}
