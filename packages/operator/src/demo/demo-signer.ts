import {
  algorithmIdentifier,
  bitString,
  boolean,
  commonName,
  contextTag,
  distinguishedName,
  element,
  type GeneralName,
  generalNames,
  integer,
  nodeSubject,
  objectIdentifier,
  octetString,
  poolKey,
  sequence,
  signBytes,
  textBytes,
} from '@ichor/policy/testing/builder';

const utcTimeTag = 0x17;
const dayMs = 24 * 60 * 60 * 1000;

/** What goes into a certificate of the demonstration. */
export interface CertificateContents {
  readonly nodeName: string;
  readonly san: readonly GeneralName[];
  /** SubjectPublicKeyInfo of the request, as DER. */
  readonly spki: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Issues a serving certificate as the kube-controller-manager does: the names and the key of the
 * request, for one year that began five minutes ago. It checks nothing, as the real signer leaves
 * that to whoever approved. Returns PEM text.
 */
export function issueServingCertificate(contents: CertificateContents): string {
  const { nodeName, san, spki, now } = contents;
  const algorithm = algorithmIdentifier('ecdsa-sha256');
  const signer = poolKey('P-256', 1_000);
  const toBeSigned = sequence(
    contextTag(0, integer(2), true),
    integer(BigInt(now)),
    algorithm,
    distinguishedName([commonName('demo-ca')]),
    sequence(utcTime(now - 5 * 60_000), utcTime(now + 365 * dayMs)),
    distinguishedName(nodeSubject(nodeName)),
    spki,
    contextTag(
      3,
      sequence(
        extension('2.5.29.37', sequence(objectIdentifier('1.3.6.1.5.5.7.3.1'))),
        sequence(objectIdentifier('2.5.29.19'), boolean(true), octetString(sequence())),
        extension('2.5.29.17', generalNames(san)),
      ),
      true,
    ),
  );
  const certificate = sequence(
    toBeSigned,
    algorithm,
    bitString(signBytes(toBeSigned, signer, 'ecdsa-sha256')),
  );
  const base64 = Buffer.from(certificate).toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${base64.trimEnd()}\n-----END CERTIFICATE-----\n`;
}

function extension(oid: string, value: Uint8Array): Uint8Array {
  return sequence(objectIdentifier(oid), octetString(value));
}

function utcTime(at: number): Uint8Array {
  const digits = new Date(at).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return element(utcTimeTag, textBytes(`${digits}Z`));
}
