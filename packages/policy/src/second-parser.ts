import {
  Boolean as Asn1Boolean,
  Set as Asn1Set,
  BitString,
  Constructed,
  fromBER,
  Integer,
  ObjectIdentifier,
  OctetString,
  Sequence,
} from 'asn1js';
import type {
  CsrAttribute,
  NameAttribute,
  NameValueType,
  ParsedCsr,
  RequestedExtension,
  SanEntry,
} from './parsed-csr.ts';

/** What a second reader of the same bytes sees; compared entry by entry with what was judged. */
export type SecondView = Pick<ParsedCsr, 'subject' | 'attributes' | 'extensions' | 'san'>;

/** Reads a request in DER; undefined if it sees no request. Never throws. */
export type SecondParser = (der: Uint8Array) => SecondView | undefined;

/**
 * Reads a request with asn1js. It shares no code with the reader that judges, so that a fault of
 * one is seen by the other; it is asked only about what would be approved.
 */
export const readWithAsn1js: SecondParser = (der) => {
  try {
    return viewOf(readAll(der));
  } catch {
    // asn1js throws on some inputs, and this file does where the structure is another one.
    return undefined;
  }
};

type Block = InstanceType<typeof Sequence>['valueBlock']['value'][number];

class NotARequest {}

function readAll(bytes: Uint8Array): Block {
  // What strings hold is read where it belongs to the request, and not wherever it looks like ASN.1.
  const { offset, result } = fromBER(bytes, { parseEmbedded: false, copyInput: false });
  if (offset !== bytes.length) throw new NotARequest();
  return result as Block;
}

function viewOf(request: Block): SecondView {
  const [info, , signature] = itemsOf(request, Sequence, 3);
  if (!(signature instanceof BitString)) throw new NotARequest();
  const [version, subject, , attributes] = itemsOf(info, Sequence, 4);
  if (!(version instanceof Integer) || version.valueBlock.valueDec !== 0) throw new NotARequest();
  if (!(attributes instanceof Constructed) || attributes.idBlock.tagClass !== 3) {
    throw new NotARequest();
  }
  const lists = attributes.valueBlock.value.map((attribute) => attributeOf(attribute as Block));
  return {
    subject: itemsOf(subject, Sequence).map((rdn) => itemsOf(rdn, Asn1Set).map(nameAttributeOf)),
    attributes: lists.map(({ attribute }) => attribute),
    extensions: lists.flatMap(({ extensions }) => extensions),
    san: lists.flatMap(({ san }) => san),
  };
}

function itemsOf(
  block: Block | undefined,
  type: typeof Sequence | typeof Asn1Set,
  count?: number,
): Block[] {
  if (!(block instanceof type)) throw new NotARequest();
  const items = block.valueBlock.value as Block[];
  if (count !== undefined && items.length !== count) throw new NotARequest();
  return items;
}

function oidOf(block: Block | undefined): string {
  if (!(block instanceof ObjectIdentifier)) throw new NotARequest();
  return block.valueBlock.toString();
}

/** The content octets, cut from the encoding by the length that asn1js read. */
function contentOf(block: Block): Uint8Array {
  const encoding = block.valueBeforeDecodeView;
  return encoding.subarray(encoding.length - block.lenBlock.length);
}

const textOf = (content: Uint8Array): string => String.fromCharCode(...content);

const stringTypes: { readonly [tag: number]: NameValueType } = {
  12: 'UTF8String',
  18: 'NumericString',
  19: 'PrintableString',
  20: 'TeletexString',
  22: 'IA5String',
  26: 'VisibleString',
  28: 'UniversalString',
  30: 'BMPString',
};

function nameAttributeOf(block: Block): NameAttribute {
  const [type, value] = itemsOf(block, Sequence, 2);
  const valueType =
    value?.idBlock.tagClass === 1 ? stringTypes[value.idBlock.tagNumber] : undefined;
  if (value === undefined || valueType === undefined) throw new NotARequest();
  return { type: oidOf(type), valueType, value: textOf(contentOf(value)) };
}

interface AttributeView {
  readonly attribute: CsrAttribute;
  readonly extensions: readonly RequestedExtension[];
  readonly san: readonly SanEntry[];
}

function attributeOf(block: Block): AttributeView {
  const [identifier, set] = itemsOf(block, Sequence, 2);
  const type = oidOf(identifier);
  const values = itemsOf(set, Asn1Set);
  const attribute = { type, values: values.length };
  // PKCS #9 extensionRequest
  if (type !== '1.2.840.113549.1.9.14') return { attribute, extensions: [], san: [] };
  const blocks = values.flatMap((value) => itemsOf(value, Sequence));
  const views = blocks.map(extensionOf);
  return {
    attribute,
    extensions: views.map(({ extension }) => extension),
    san: views.flatMap(({ san }) => san),
  };
}

function extensionOf(block: Block): {
  extension: RequestedExtension;
  san: readonly SanEntry[];
} {
  const parts = itemsOf(block, Sequence);
  const flag = parts[1] instanceof Asn1Boolean ? parts[1] : undefined;
  const value = parts.at(-1);
  if (parts.length !== (flag ? 3 : 2) || !(value instanceof OctetString)) throw new NotARequest();
  const type = oidOf(parts[0]);
  const extension = { type, critical: flag?.valueBlock.value ?? false };
  // id-ce-subjectAltName
  if (type !== '2.5.29.17') return { extension, san: [] };
  return { extension, san: itemsOf(readAll(contentOf(value)), Sequence).map(sanEntryOf) };
}

function sanEntryOf(block: Block): SanEntry {
  const { tagClass, tagNumber, isConstructed } = block.idBlock;
  if (tagClass === 3 && !isConstructed && tagNumber === 2) {
    return { kind: 'dns', name: textOf(contentOf(block)) };
  }
  if (tagClass === 3 && !isConstructed && tagNumber === 7) {
    return { kind: 'ip', octets: Array.from(contentOf(block)) };
  }
  throw new NotARequest();
}
