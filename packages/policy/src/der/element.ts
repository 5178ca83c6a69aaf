/** Tag classes (X.690, 8.1.2.2), as the two high bits of an identifier octet give them. */
export const tagClass = { universal: 0, application: 1, context: 2, private: 3 } as const;

/** One of the four tag classes, by number. */
export type TagClass = (typeof tagClass)[keyof typeof tagClass];

/** Universal tag numbers (X.680, 8.4). */
export const universal = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  null: 5,
  objectIdentifier: 6,
  external: 8,
  enumerated: 10,
  embeddedPdv: 11,
  utf8String: 12,
  relativeOid: 13,
  sequence: 16,
  set: 17,
  numericString: 18,
  printableString: 19,
  teletexString: 20,
  ia5String: 22,
  visibleString: 26,
  universalString: 28,
  characterString: 29,
  bmpString: 30,
} as const;

/** One element of canonical DER. Offsets are into `bytes`, the input that it was read from. */
export interface Element {
  readonly bytes: Uint8Array;
  readonly class: TagClass;
  readonly constructed: boolean;
  readonly tag: number;
  /** Where the identifier octets start. */
  readonly start: number;
  /** Where the content starts. */
  readonly content: number;
  /** Where the content ends, exclusive. */
  readonly end: number;
  /** 1 for the outermost element. */
  readonly level: number;
  /** Elements inside, if it is constructed. */
  readonly children: readonly Element[];
}

/** Whether an element has this universal tag. */
export function isUniversal(element: Element | undefined, tag: number): element is Element {
  return element !== undefined && element.class === tagClass.universal && element.tag === tag;
}

/** The content octets of an element. */
export function contentOf(element: Element): Uint8Array {
  return element.bytes.subarray(element.content, element.end);
}

/** The whole encoding of an element. */
export function encodingOf(element: Element): Uint8Array {
  return element.bytes.subarray(element.start, element.end);
}
