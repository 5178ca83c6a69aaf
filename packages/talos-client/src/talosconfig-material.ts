import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { TalosconfigError } from './talosconfig-error.ts';

/** A base64 field of a talosconfig and where it stands. */
export interface MaterialField {
  readonly source: string;
  readonly field: string;
  readonly text: string | null | undefined;
}

const maxCertificates = 64;
const certificateBlock = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const renew = 'write a new talosconfig with `talosctl config new`';

function failure(at: MaterialField, problem: string): TalosconfigError {
  return new TalosconfigError(at.source, at.field, problem);
}

function pemOf(at: MaterialField): string {
  if (at.text === undefined || at.text === null || at.text === '') {
    throw failure(at, `is missing; ${renew}`);
  }
  const compact = at.text.replace(/\s+/g, '');
  const bytes = Buffer.from(compact, 'base64');
  // Buffer.from skips what is not base64; a field that was pasted as plain PEM shows here.
  if (bytes.toString('base64').replace(/=+$/, '') !== compact.replace(/=+$/, '')) {
    throw failure(at, `is not base64; each of ca, crt and key is the base64 of a PEM text`);
  }
  return bytes.toString('latin1');
}

function certificatesOf(at: MaterialField): { pem: string; certificates: X509Certificate[] } {
  const blocks = pemOf(at).match(certificateBlock) ?? [];
  if (blocks.length === 0 || blocks.length > maxCertificates) {
    throw failure(at, `holds no usable PEM certificate; ${renew}`);
  }
  try {
    return {
      pem: `${blocks.join('\n')}\n`,
      certificates: blocks.map((block) => new X509Certificate(block)),
    };
  } catch {
    throw failure(at, `holds a certificate that cannot be read; ${renew}`);
  }
}

/**
 * The accepted Talos CAs as PEM; several during a CA rotation.
 *
 * @throws TalosconfigError where the field holds anything but CA certificates.
 */
export function checkedAuthority(at: MaterialField): string {
  const { pem, certificates } = certificatesOf(at);
  if (!certificates.every((certificate) => certificate.ca)) {
    throw failure(
      at,
      'is not the certificate of a certificate authority; take ca from the cluster',
    );
  }
  return pem;
}

function keyOf(at: MaterialField): KeyObject {
  // Talos labels its PKCS #8 keys with the algorithm, which OpenSSL does not know.
  const pem = pemOf(at).replaceAll('ED25519 PRIVATE KEY-----', 'PRIVATE KEY-----');
  try {
    return createPrivateKey(pem);
  } catch {
    // The cause would be harmless today, but it is OpenSSL's to word.
    throw failure(at, `holds no private key that can be read; ${renew}`);
  }
}

/**
 * The client certificate (with whatever chain follows it) and its key, as PEM; the key as PKCS #8.
 *
 * @throws TalosconfigError where one cannot be read, they do not belong together, or the
 *   certificate is not valid at `now`.
 */
export function checkedClientCertificate(
  crtField: MaterialField,
  keyField: MaterialField,
  now: Date,
): { crt: string; key: string } {
  const { pem, certificates } = certificatesOf(crtField);
  const key = keyOf(keyField);
  const leaf = certificates[0];
  if (leaf === undefined || !leaf.checkPrivateKey(key)) {
    throw failure(keyField, `does not belong to the certificate in crt; ${renew}`);
  }
  const [from, until] = [new Date(leaf.validFrom), new Date(leaf.validTo)];
  if (now.getTime() > until.getTime()) {
    throw failure(crtField, `expired at ${until.toISOString()}; ${renew}`);
  }
  if (now.getTime() < from.getTime()) {
    throw failure(crtField, `is not valid before ${from.toISOString()}; check the clock`);
  }
  return { crt: pem, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
