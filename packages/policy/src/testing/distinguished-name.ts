import {
  characterString,
  objectIdentifier,
  type StringType,
  sequence,
  setOf,
} from './der-writer.ts';

/** One AttributeTypeAndValue. `value` as bytes is a whole element, of any type. */
export interface NameAttribute {
  /** Dotted OID; see {@link nameAttributeTypes}. */
  readonly type: string;
  readonly value: string | Uint8Array;
  /** String type of a textual value, PrintableString by default as Go writes it. */
  readonly as?: StringType;
}

/** OIDs of naming attributes. (X.520) */
export const nameAttributeTypes = {
  commonName: '2.5.4.3',
  serialNumber: '2.5.4.5',
  country: '2.5.4.6',
  organization: '2.5.4.10',
  organizationalUnit: '2.5.4.11',
} as const;

/** A relative distinguished name: usually one attribute, possibly none or several. */
export type Rdn = readonly NameAttribute[];

function attributeValue(attribute: NameAttribute): Uint8Array {
  const value =
    typeof attribute.value === 'string'
      ? characterString(attribute.as ?? 'printable', attribute.value)
      : attribute.value;
  return sequence(objectIdentifier(attribute.type), value);
}

/** A Name with its RDNs in the order given. (RFC 5280 4.1.2.4) */
export function distinguishedName(rdns: readonly Rdn[]): Uint8Array {
  return sequence(...rdns.map((rdn) => setOf(...rdn.map(attributeValue))));
}

/** An RDN with one O. */
export function organization(value: string, as: StringType = 'printable'): Rdn {
  return [{ type: nameAttributeTypes.organization, value, as }];
}

/** An RDN with one CN. */
export function commonName(value: string, as: StringType = 'printable'): Rdn {
  return [{ type: nameAttributeTypes.commonName, value, as }];
}

/** The subject that the signer wants from the kubelet of this node. */
export function nodeSubject(nodeName: string): readonly Rdn[] {
  return [organization('system:nodes'), commonName(`system:node:${nodeName}`)];
}
