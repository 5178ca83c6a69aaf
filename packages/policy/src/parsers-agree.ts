import type {
  CsrAttribute,
  NameAttribute,
  ParsedCsr,
  RelativeDistinguishedName,
  RequestedExtension,
  SanEntry,
} from './parsed-csr.ts';
import type { SecondView } from './second-parser.ts';

/**
 * Whether a second parser saw the request that was judged: the same subject, attributes,
 * extensions and names, each in the same order and with the same types and octets.
 */
export function sameRequest(csr: ParsedCsr, view: SecondView | undefined): boolean {
  return (
    view !== undefined &&
    sameList(csr.subject, view.subject, sameRdn) &&
    sameList(csr.attributes, view.attributes, sameAttribute) &&
    sameList(csr.extensions, view.extensions, sameExtension) &&
    sameList(csr.san, view.san, sameEntry)
  );
}

function sameList<T>(
  left: readonly T[],
  right: readonly T[],
  same: (left: T, right: T) => boolean,
): boolean {
  return (
    left.length === right.length &&
    left.every((item, index) => {
      const other = right[index];
      return other !== undefined && same(item, other);
    })
  );
}

const sameRdn = (left: RelativeDistinguishedName, right: RelativeDistinguishedName): boolean =>
  sameList(left, right, sameNameAttribute);

const sameNameAttribute = (left: NameAttribute, right: NameAttribute): boolean =>
  left.type === right.type && left.valueType === right.valueType && left.value === right.value;

const sameAttribute = (left: CsrAttribute, right: CsrAttribute): boolean =>
  left.type === right.type && left.values === right.values;

const sameExtension = (left: RequestedExtension, right: RequestedExtension): boolean =>
  left.type === right.type && left.critical === right.critical;

function sameEntry(left: SanEntry, right: SanEntry): boolean {
  switch (left.kind) {
    case 'dns':
      return right.kind === 'dns' && left.name === right.name;
    case 'ip':
      return right.kind === 'ip' && sameList(left.octets, right.octets, Object.is);
    case 'other':
      return right.kind === 'other' && left.tag === right.tag;
  }
}
