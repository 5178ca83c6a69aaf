import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import {
  bitString,
  derTrue,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  tlv,
  utf8String,
} from './der-writer.ts';

/** A certificate and its private key, both as PEM text (the key as PKCS #8). */
export type KeyPairPem = { readonly certificate: string; readonly key: string };

/** What goes into a subject: one CN, and one O for each organization; bytes are used as they are. */
export type SubjectNames = {
  readonly commonName: string | Uint8Array;
  readonly organizations?: readonly (string | Uint8Array)[];
};

/** Names that a certificate is valid for; addresses in their text form. */
export type SubjectAltNames = {
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
};

/** Issues certificates from one self-signed P-256 root. Each call takes about a millisecond. */
export type CertificateAuthority = {
  readonly certificate: string;
  readonly key: string;
  /** A client certificate that is valid for a year. */
  client(subject: SubjectNames): KeyPairPem;
  /** A serving certificate that is valid for a year. */
  server(subject: SubjectNames, names: SubjectAltNames): KeyPairPem;
};

type PrivateKey = ReturnType<typeof newKey>['privateKey'];

const oid = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  extensionRequest: '1.2.840.113549.1.9.14',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;
const signatureAlgorithm = sequence(objectIdentifier(oid.ecdsaWithSha256));

/** Makes a root with the given common name. */
export function createCertificateAuthority(commonName: string): CertificateAuthority {
  const root = newKey();
  const subject = name({ commonName });
  const rootPem = certificate({
    issuer: subject,
    subject,
    publicKey: root.spki,
    signer: root.privateKey,
    lifetimeMs: 10 * yearMs,
    extensions: [
      extension(oid.basicConstraints, sequence(derTrue), true),
      // keyCertSign and cRLSign: bits 5 and 6, so one unused bit remains.
      extension(oid.keyUsage, tlv(0x03, Buffer.from([1, 0b0000_0110])), true),
      extension(oid.subjectKeyIdentifier, octetString(randomBytes(20))),
    ],
  });
  const issue = (
    names: SubjectNames,
    purpose: string,
    more: readonly Buffer[] = [],
  ): KeyPairPem => {
    const leaf = newKey();
    return {
      key: leaf.pem,
      certificate: certificate({
        issuer: subject,
        subject: name(names),
        publicKey: leaf.spki,
        signer: root.privateKey,
        lifetimeMs: yearMs,
        extensions: [
          // digitalSignature: bit 0, so seven unused bits remain.
          extension(oid.keyUsage, tlv(0x03, Buffer.from([7, 0b1000_0000])), true),
          extension(oid.extendedKeyUsage, sequence(objectIdentifier(purpose))),
          ...more,
        ],
      }),
    };
  };
  return {
    certificate: rootPem,
    key: root.pem,
    client: (names) => issue(names, oid.clientAuth),
    server: (names, altNames) =>
      issue(names, oid.serverAuth, [extension(oid.subjectAltName, generalNames(altNames))]),
  };
}

/**
 * A certificate request (RFC 2986) as an honest kubelet makes it: subject, one extensionRequest with one
 * subjectAltName, signed with a fresh P-256 key.
 *
 * @returns the request as PEM text and its key.
 */
export function createServingRequest(
  subject: SubjectNames,
  names: SubjectAltNames,
): { readonly request: string; readonly key: string } {
  const key = newKey();
  const extensions = sequence(extension(oid.subjectAltName, generalNames(names)));
  const attribute = sequence(objectIdentifier(oid.extensionRequest), setOf(extensions));
  const info = sequence(integer(Buffer.from([0])), name(subject), key.spki, tlv(0xa0, attribute));
  return { request: signed(info, key.privateKey, 'CERTIFICATE REQUEST'), key: key.pem };
}

type CertificateParts = {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly signer: PrivateKey;
  readonly lifetimeMs: number;
  readonly extensions: readonly Buffer[];
};

function certificate(parts: CertificateParts): string {
  const now = Date.now();
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const toBeSigned = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    signatureAlgorithm,
    parts.issuer,
    // Backdated, so that a clock that steps back during a test does not make it invalid.
    sequence(time(new Date(now - hourMs)), time(new Date(now + parts.lifetimeMs))),
    parts.subject,
    parts.publicKey,
    tlv(0xa3, sequence(...parts.extensions)),
  );
  return signed(toBeSigned, parts.signer, 'CERTIFICATE');
}

function signed(content: Buffer, key: PrivateKey, label: string): string {
  const signature = sign('sha256', content, key);
  return pem(label, sequence(content, signatureAlgorithm, bitString(signature)));
}

function name(names: SubjectNames): Buffer {
  const part = (type: string, value: string | Uint8Array): Buffer =>
    setOf(sequence(objectIdentifier(type), utf8String(value)));
  return sequence(
    ...(names.organizations ?? []).map((value) => part(oid.organization, value)),
    part(oid.commonName, names.commonName),
  );
}

function extension(type: string, value: Buffer, critical = false): Buffer {
  return sequence(objectIdentifier(type), critical ? derTrue : Buffer.of(), octetString(value));
}

function generalNames(names: SubjectAltNames): Buffer {
  return sequence(
    ...(names.dnsNames ?? []).map((dns) => tlv(0x82, Buffer.from(dns, 'latin1'))),
    ...(names.ipAddresses ?? []).map((ip) => tlv(0x87, addressBytes(ip))),
  );
}

/** The 4 or 16 bytes of an IP address in text form. @throws Error when the text is no address. */
export function addressBytes(text: string): Buffer {
  if (isIP(text) === 0) throw new Error(`"${text}" is not an IP address.`);
  if (!isIPv6(text)) return Buffer.from(text.split('.').map(Number));
  const hex = (part: string): number[] =>
    part === ''
      ? []
      : part
          .split(':')
          .flatMap((group) =>
            group.includes('.')
              ? group.split('.').map(Number)
              : [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff],
          );
  const [head = '', tail] = text.split('::');
  if (tail === undefined) return Buffer.from(hex(head));
  const [front, back] = [hex(head), hex(tail)];
  return Buffer.from([...front, ...Array(16 - front.length - back.length).fill(0), ...back]);
}

/** A fresh P-256 key; the private half also as PKCS #8 in PEM, the public one as SubjectPublicKeyInfo. */
function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    privateKey,
    pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    spki: publicKey.export({ type: 'spki', format: 'der' }),
  };
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
