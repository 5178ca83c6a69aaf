import { decodeBase64 } from '../base64.ts';
import {
  contentOf,
  type Element,
  encodingOf,
  isUniversal,
  tagClass,
  universal,
} from '../der/element.ts';
import { Malformed, malformed } from '../der/malformed.ts';
import { dottedOid } from '../der/object-identifier.ts';
import { readDer } from '../der/reader.ts';
import { isSortedSetOf } from '../der/set-order.ts';
import type { CsrAttribute, CsrReading, RequestedExtension, SanEntry } from '../parsed-csr.ts';
import { readRequestBlock } from '../pem.ts';
import { readDistinguishedName } from '../x509/distinguished-name.ts';
import { readExtensions } from '../x509/extension.ts';
import { oid } from '../x509/oids.ts';
import { readPublicKey, wholeOctetsOf } from '../x509/public-key.ts';
import { readSignatureAlgorithm } from '../x509/signature-algorithm.ts';

/** Longest PEM text that is read, in octets. */
const longestRequest = 65_536;

/** Most SAN entries that are read, whatever their type. */
const mostSanEntries = 256;

/**
 * Reads a certificate signing request: `spec.request`, which is base64 of the PEM text, or the PEM
 * text itself as bytes. One pass over all of it, strict at every level: what is returned as parsed
 * is canonical DER with nothing left unread, so that the signer cannot see another request in the
 * same bytes. Bounds are checked before anything is decoded. Never throws.
 */
export function parseCsr(request: string | Uint8Array): CsrReading {
  if (typeof request !== 'string') {
    return request instanceof Uint8Array
      ? parsePem(request)
      : refusal('There is no text in spec.request');
  }
  if (request.length > Math.ceil(longestRequest / 3) * 4) return tooLong();
  const pem = decodeBase64(request);
  if (pem === undefined) return refusal('The text in spec.request is not base64');
  return parsePem(pem);
}

function parsePem(pem: Uint8Array): CsrReading {
  if (pem.length > longestRequest) return tooLong();
  const block = readRequestBlock(pem);
  if (block.kind === 'problem') {
    return refusal(`The text in spec.request is not one PEM block of a request: ${block.problem}`);
  }
  try {
    return readRequest(block.der);
  } catch (error) {
    if (error instanceof Malformed) {
      return refusal(
        `The block in spec.request is not a canonical PKCS #10 request: ${error.problem}`,
      );
    }
    throw error;
  }
}

const refusal = (problem: string): CsrReading => ({ kind: 'malformed', problem: `${problem}.` });

const tooLong = (): CsrReading =>
  refusal(`The text in spec.request is longer than ${longestRequest} octets of PEM text`);

/** CertificationRequest (RFC 2986, section 4.2). */
function readRequest(der: Uint8Array): CsrReading {
  const request = readDer(der);
  const [info, algorithm, signature, surplus] = request.children;
  if (
    !isUniversal(request, universal.sequence) ||
    !isUniversal(info, universal.sequence) ||
    !isUniversal(signature, universal.bitString) ||
    surplus !== undefined
  ) {
    malformed('it is not a request, an algorithm and a signature');
  }
  const [version, subject, spki, attributes, more] = info.children;
  if (!isUniversal(version, universal.integer) || !isZero(contentOf(version))) {
    malformed('its version is not 0');
  }
  if (more !== undefined) malformed('something follows its attributes');
  const csr = {
    subject: readDistinguishedName(subject),
    key: readPublicKey(spki),
    signatureAlgorithm: readSignatureAlgorithm(algorithm),
    ...readAttributes(attributes),
  };
  const signed = {
    info: encodingOf(info),
    spki: spki === undefined ? new Uint8Array(0) : encodingOf(spki),
    signature: wholeOctetsOf(signature, 'the signature'),
  };
  return { kind: 'parsed', csr, signed, der };
}

const isZero = (content: Uint8Array): boolean => content.length === 1 && content[0] === 0;

interface Attributes {
  readonly attributes: readonly CsrAttribute[];
  readonly extensions: readonly RequestedExtension[];
  readonly san: readonly SanEntry[];
}

function readAttributes(element: Element | undefined): Attributes {
  const attributes: CsrAttribute[] = [];
  const extensions: RequestedExtension[] = [];
  const san: SanEntry[] = [];
  for (const child of attributeElementsOf(element)) {
    const { type, values } = readAttribute(child);
    attributes.push({ type, values: values.length });
    if (type !== oid.extensionRequest) continue;
    for (const value of values) {
      const list = readExtensions(value);
      extensions.push(...list.extensions);
      if (san.length + list.san.length > mostSanEntries) {
        malformed(`its SAN has more than ${mostSanEntries} entries`);
      }
      san.push(...list.san);
    }
  }
  return { attributes, extensions, san };
}

/** `[0] IMPLICIT SET OF Attribute` (RFC 2986, section 4.1); present, if only empty. */
function attributeElementsOf(element: Element | undefined): readonly Element[] {
  const isAttributes =
    element?.class === tagClass.context && element.tag === 0 && element.constructed;
  if (!isAttributes) malformed('its attributes are missing');
  if (!isSortedSetOf(element.children)) malformed('its attributes are not in their order');
  return element.children;
}

function readAttribute(element: Element): { type: string; values: readonly Element[] } {
  const [type, values, surplus] = element.children;
  if (
    !isUniversal(element, universal.sequence) ||
    !isUniversal(type, universal.objectIdentifier) ||
    !isUniversal(values, universal.set) ||
    surplus !== undefined
  ) {
    malformed('one of its attributes is not a type and a set of values');
  }
  if (!isSortedSetOf(values.children)) {
    malformed('the values of one of its attributes are not in their order');
  }
  return { type: dottedOid(contentOf(type)), values: values.children };
}
