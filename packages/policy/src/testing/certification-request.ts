import {
  bitString,
  boolean,
  concatBytes,
  contextTag,
  element,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
} from './der-writer.ts';
import { distinguishedName, type Rdn } from './distinguished-name.ts';
import { type GeneralName, generalNames } from './general-name.ts';
import { type KeyName, type PoolKey, poolKey } from './key-pool.ts';
import {
  algorithmIdentifier,
  type SignatureAlgorithm,
  signBytes,
  usualAlgorithm,
} from './signature-algorithm.ts';

/** One X.509 extension. (RFC 5280 4.1) */
export interface Extension {
  /** Dotted OID. */
  readonly type: string;
  /** `true` and `'written false'` are written, `false` and absence are DER's default. */
  readonly critical?: boolean | 'written false';
  /** What the OCTET STRING holds. */
  readonly value: Uint8Array;
}

/** One attribute of a request with its values, each a whole element. (RFC 2986 4.1) */
export interface RequestAttribute {
  readonly type: string;
  readonly values: readonly Uint8Array[];
}

/** OIDs of the attributes and extensions that tests use most. */
export const requestOids = {
  extensionRequest: '1.2.840.113549.1.9.14',
  challengePassword: '1.2.840.113549.1.9.7',
  unstructuredName: '1.2.840.113549.1.9.2',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extKeyUsage: '2.5.29.37',
} as const;

/** An extension as an element. */
export function extensionElement(extension: Extension): Uint8Array {
  const critical = extension.critical ?? false;
  const flag = critical === false ? [] : [boolean(critical === true)];
  return sequence(objectIdentifier(extension.type), ...flag, octetString(extension.value));
}

/** An attribute as an element, its values in the order of DER. */
export function attributeElement(attribute: RequestAttribute): Uint8Array {
  return sequence(objectIdentifier(attribute.type), setOf(...attribute.values));
}

/** The SAN extension with these entries. */
export function sanExtension(
  names: readonly GeneralName[],
  critical: Extension['critical'] = false,
): Extension {
  return { type: requestOids.subjectAltName, critical, value: generalNames(names) };
}

/** The extensionRequest attribute with one value that lists these extensions. (RFC 2985 5.4.2) */
export function extensionRequest(extensions: readonly Extension[]): RequestAttribute {
  return {
    type: requestOids.extensionRequest,
    values: [sequence(...extensions.map(extensionElement))],
  };
}

/** What a PKCS #10 request is made of; every part can be replaced by bytes. */
export interface RequestParts {
  /** 0 is version 1. Bytes are a whole element. */
  readonly version?: number | Uint8Array;
  readonly subject: readonly Rdn[] | Uint8Array;
  /** Key that signs, and whose SubjectPublicKeyInfo is written unless `spki` is given. */
  readonly key?: KeyName | PoolKey;
  readonly spki?: Uint8Array;
  /** Attributes in the order of DER, or everything inside `[0]`, or `null` for no `[0]` at all. */
  readonly attributes: readonly RequestAttribute[] | Uint8Array | null;
  /** Bytes are a whole AlgorithmIdentifier; the signature is then made with the usual algorithm. */
  readonly signatureAlgorithm?: SignatureAlgorithm | Uint8Array;
  /** `valid` by default; `broken` has one bit turned; bytes are the value of the BIT STRING. */
  readonly signature?: 'valid' | 'broken' | Uint8Array;
  /** Unused bits that the signature's BIT STRING claims; 0 by default. */
  readonly signatureUnusedBits?: number;
  /** Takes the finished CertificationRequestInfo and returns the one that is signed and sent. */
  readonly rewriteInfo?: (info: Uint8Array) => Uint8Array;
  /** Takes the finished request and returns the one that is sent. */
  readonly rewriteRequest?: (request: Uint8Array) => Uint8Array;
}

function attributesElement(attributes: RequestParts['attributes']): readonly Uint8Array[] {
  if (attributes === null) return [];
  if (attributes instanceof Uint8Array) return [contextTag(0, attributes, true)];
  const sorted = setOf(...attributes.map(attributeElement));
  // [0] IMPLICIT SET OF: the same content under another identifier octet.
  const implicit = new Uint8Array(sorted);
  implicit[0] = 0xa0;
  return [implicit];
}

function signatureValue(info: Uint8Array, key: PoolKey, parts: RequestParts): Uint8Array {
  const { signature = 'valid', signatureAlgorithm } = parts;
  if (signature instanceof Uint8Array) return signature;
  const algorithm =
    typeof signatureAlgorithm === 'string' ? signatureAlgorithm : usualAlgorithm(key.name);
  const value = signBytes(info, key, algorithm);
  if (signature === 'broken') {
    const last = value.length - 1;
    value[last] = (value[last] ?? 0) ^ 1;
  }
  return value;
}

/** A CertificationRequestInfo, the part that is signed. (RFC 2986 4.1) */
export function certificationRequestInfo(parts: RequestParts): Uint8Array {
  const { version = 0, subject } = parts;
  const key = typeof parts.key === 'object' ? parts.key : poolKey(parts.key ?? 'P-256');
  const info = element(0x30, [
    version instanceof Uint8Array ? version : integer(version),
    subject instanceof Uint8Array ? subject : distinguishedName(subject),
    parts.spki ?? key.spki,
    ...attributesElement(parts.attributes),
  ]);
  return parts.rewriteInfo?.(info) ?? info;
}

/** A whole PKCS #10 request as DER, or as what is meant to be none. (RFC 2986 4.2) */
export function certificationRequest(parts: RequestParts): Uint8Array {
  const key = typeof parts.key === 'object' ? parts.key : poolKey(parts.key ?? 'P-256');
  const info = certificationRequestInfo(parts);
  const algorithm = parts.signatureAlgorithm ?? usualAlgorithm(key.name);
  const request = sequence(
    info,
    algorithm instanceof Uint8Array ? algorithm : algorithmIdentifier(algorithm),
    bitString(signatureValue(info, key, parts), parts.signatureUnusedBits),
  );
  return parts.rewriteRequest?.(request) ?? request;
}

/** The request with bytes behind its end. */
export function withTrailingBytes(request: Uint8Array, trailing: Uint8Array): Uint8Array {
  return concatBytes([request, trailing]);
}
