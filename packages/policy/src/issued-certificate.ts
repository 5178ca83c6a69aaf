import {
  Set as Asn1Set,
  fromBER,
  ObjectIdentifier,
  PrintableString,
  Sequence,
  Utf8String,
} from 'asn1js';
import { Certificate } from 'pkijs';
import { decodeBase64 } from './base64.ts';
import { addressOf, formatIpAddress } from './identity/ip-address.ts';
import { NODES_GROUP, nodeNameOf } from './identity/node-user.ts';
import { octetsOf, textOfUtf8 } from './octets.ts';
import { sha256Hex } from './sha256.ts';

/** What an issued certificate says. It was signed by somebody else: this is a report, no judgement. */
export interface IssuedCertificate {
  readonly kind: 'certificate';
  /**
   * The node name, if the subject is exactly one O=system:nodes and one CN=system:node:<name>;
   * undefined for every other subject.
   */
  readonly nodeName: string | undefined;
  readonly commonNames: readonly string[];
  readonly organizations: readonly string[];
  /** DNS names as they stand in the certificate. */
  readonly dnsNames: readonly string[];
  /** Addresses in canonical text. */
  readonly ipAddresses: readonly string[];
  /** How many names of other types the SAN holds. */
  readonly otherNames: number;
  /** Milliseconds since 1970 UTC, and the same in RFC 3339. */
  readonly notBefore: number;
  readonly notBeforeText: string;
  readonly notAfter: number;
  readonly notAfterText: string;
  /** SHA-256 of the DER, in lower-case hex. */
  readonly fingerprint: string;
  /** DER of the SubjectPublicKeyInfo, to be compared with that of a request. */
  readonly spki: Uint8Array;
}

/** Why a text is no certificate, as a sentence. */
export interface CertificateProblem {
  readonly kind: 'problem';
  readonly problem: string;
}

/** Far above any chain that a signer returns. */
const longestCertificate = 1_048_576;

/**
 * Reads the first certificate of a PEM text, which is the leaf where a signer returns a chain.
 * Takes the text, its base64 (as `status.certificate` holds it), or DER as a TLS peer presents it.
 * What is no certificate gives a problem, never an exception.
 */
export function readIssuedCertificate(
  certificate: string | Uint8Array,
): IssuedCertificate | CertificateProblem {
  if (typeof certificate !== 'string' && !(certificate instanceof Uint8Array)) {
    return problem('There is no certificate.');
  }
  if (certificate.length > longestCertificate) return problem('The certificate is too long.');
  const der = derOf(certificate);
  if (der === undefined) return problem('The text holds no whole PEM block of a certificate.');
  try {
    return readDerCertificate(der);
  } catch {
    // pkijs and asn1js throw errors of many kinds for what does not fit their schemas.
    return problem('The first PEM block is not an X.509 certificate.');
  }
}

const problem = (text: string): CertificateProblem => ({ kind: 'problem', problem: text });

function derOf(certificate: string | Uint8Array): Uint8Array | undefined {
  if (typeof certificate !== 'string') {
    // A SEQUENCE; PEM text would begin with a dash or with words.
    return certificate[0] === 0x30 ? certificate : firstBlock(octetsOf(certificate));
  }
  if (certificate.includes(begin)) return firstBlock(certificate);
  const text = decodeBase64(certificate.trim());
  return text && firstBlock(octetsOf(text));
}

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

function firstBlock(text: string): Uint8Array | undefined {
  const start = text.indexOf(begin);
  const stop = text.indexOf(end, start);
  if (start < 0 || stop < 0) return undefined;
  return decodeBase64(text.slice(start + begin.length, stop).replace(/\s+/g, ''));
}

type Block = InstanceType<typeof Sequence>['valueBlock']['value'][number];

class NotACertificate {}

function readDerCertificate(der: Uint8Array): IssuedCertificate {
  const tree = readAll(der);
  // The schema decides what a certificate is; names and the key are then taken as they stand.
  const { notBefore, notAfter, extensions = [] } = new Certificate({ schema: tree });
  const [tbs] = itemsOf(tree, Sequence);
  const fields = itemsOf(tbs, Sequence);
  // Version is optional, so that the fields behind it are counted from the serial number.
  const [, , , , subject, spki] = fields[0]?.idBlock.tagClass === 3 ? fields.slice(1) : fields;
  if (spki === undefined) throw new NotACertificate();
  const san = extensions
    .filter(({ extnID }) => extnID === '2.5.29.17')
    .flatMap(({ extnValue }) => itemsOf(readAll(extnValue.valueBlock.valueHexView), Sequence));
  return {
    kind: 'certificate',
    ...subjectOf(subject),
    ...namesOf(san),
    notBefore: notBefore.value.getTime(),
    notBeforeText: timeText(notBefore.value),
    notAfter: notAfter.value.getTime(),
    notAfterText: timeText(notAfter.value),
    fingerprint: sha256Hex(der),
    spki: spki.valueBeforeDecodeView.slice(),
  };
}

const timeText = (time: Date): string => time.toISOString().replace('.000Z', 'Z');

function readAll(bytes: Uint8Array): Block {
  const { offset, result } = fromBER(bytes, { parseEmbedded: false });
  if (offset !== bytes.length) throw new NotACertificate();
  return result as Block;
}

function itemsOf(block: Block | undefined, type: typeof Sequence | typeof Asn1Set): Block[] {
  if (!(block instanceof type)) throw new NotACertificate();
  return block.valueBlock.value as Block[];
}

function contentOf(block: Block): Uint8Array {
  const encoding = block.valueBeforeDecodeView;
  return encoding.subarray(encoding.length - block.lenBlock.length);
}

type Subject = Pick<IssuedCertificate, 'nodeName' | 'commonNames' | 'organizations'>;

function subjectOf(subject: Block | undefined): Subject {
  const rdns = itemsOf(subject, Sequence).map((rdn) => itemsOf(rdn, Asn1Set).map(attributeOf));
  const attributes = rdns.flat();
  const commonNames = attributes.flatMap(({ type, text }) => (type === '2.5.4.3' ? [text] : []));
  const organizations = attributes.flatMap(({ type, text }) => (type === '2.5.4.10' ? [text] : []));
  const [commonName = '', secondName] = commonNames;
  const isExact =
    rdns.length === 2 &&
    attributes.length === 2 &&
    rdns.every((rdn) => rdn.length === 1) &&
    secondName === undefined &&
    organizations[0] === NODES_GROUP;
  return { nodeName: isExact ? nodeNameOf(commonName) : undefined, commonNames, organizations };
}

function attributeOf(attribute: Block): { type: string; text: string } {
  const [type, value] = itemsOf(attribute, Sequence);
  if (!(type instanceof ObjectIdentifier) || value === undefined) throw new NotACertificate();
  return { type: type.valueBlock.toString(), text: textOf(value) };
}

/** Values of other types are shown, but in a form that equals no name. */
function textOf(value: Block): string {
  const octets = octetsOf(contentOf(value));
  const text =
    value instanceof Utf8String || value instanceof PrintableString
      ? textOfUtf8(octets)
      : undefined;
  return text ?? `(${value.idBlock.tagNumber}) ${octets}`;
}

type Names = Pick<IssuedCertificate, 'dnsNames' | 'ipAddresses' | 'otherNames'>;

function namesOf(san: readonly Block[]): Names {
  const isName = ({ idBlock }: Block, tag: number): boolean =>
    idBlock.tagClass === 3 && idBlock.tagNumber === tag && !idBlock.isConstructed;
  const dnsNames = san.filter((name) => isName(name, 2));
  const addresses = san
    .filter((name) => isName(name, 7))
    .map(contentOf)
    .filter(({ length }) => length === 4 || length === 16);
  return {
    dnsNames: dnsNames.map((name) => octetsOf(contentOf(name))),
    ipAddresses: addresses.map((address) => formatIpAddress(addressOf([...address]))),
    otherNames: san.length - dnsNames.length - addresses.length,
  };
}
