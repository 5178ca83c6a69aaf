import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import {
  bits,
  der,
  isTrue,
  octets,
  oid,
  positiveInteger,
  sequence,
  set,
  time,
  utf8,
} from './der.ts';

/** Key algorithms: Talos uses Ed25519 for its API, Kubernetes ECDSA on P-256. */
export type KeyAlgorithm = 'Ed25519' | 'P-256';

/** Distinguished name: at most one common name, any number of organizations (Talos roles). */
export interface Subject {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
}

/** A certificate with its private key; PEM texts, the key as PKCS #8. */
export interface IssuedCertificate {
  readonly crt: string;
  readonly key: string;
}

/** A certificate authority that `issueCertificate` can sign with. */
export interface CertificateAuthority extends IssuedCertificate {
  readonly subject: Subject;
  readonly privateKey: KeyObject;
}

/** What a certificate is issued for. */
export interface CertificateRequestOptions {
  readonly subject?: Subject;
  /** Subject alternative names: IP addresses and DNS names, told apart by their looks. */
  readonly sans?: readonly string[];
  /** Default: an hour ago. */
  readonly notBefore?: Date;
  /** Default: a day from now. */
  readonly notAfter?: Date;
  /** Extended key usages; default both. */
  readonly usages?: readonly ('serverAuth' | 'clientAuth')[];
  readonly algorithm?: KeyAlgorithm;
}

const hour = 3_600_000;

const signatureAlgorithm: Readonly<Record<KeyAlgorithm, string>> = {
  Ed25519: '1.3.101.112',
  'P-256': '1.2.840.10045.4.3.2',
};

const usageOid = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const;

function newKeyPair(algorithm: KeyAlgorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  return algorithm === 'Ed25519'
    ? generateKeyPairSync('ed25519')
    : generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function nameOf(subject: Subject): Buffer {
  const attribute = (type: string, value: string) => set(sequence(oid(type), utf8(value)));
  return sequence(
    ...(subject.organizations ?? []).map((value) => attribute('2.5.4.10', value)),
    ...(subject.commonName === undefined ? [] : [attribute('2.5.4.3', subject.commonName)]),
  );
}

/** The 4 or 16 bytes of an address. */
export function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) {
    return Buffer.from(address.split('.').map(Number));
  }
  const hostname = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = hostname.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  const all = tail === undefined ? before : [...before, ...zeros, ...after];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function generalName(name: string): Buffer {
  return isIP(name) === 0 ? der(0x82, Buffer.from(name, 'ascii')) : der(0x87, addressBytes(name));
}

function extension(type: string, isCritical: boolean, value: Uint8Array): Buffer {
  return sequence(oid(type), ...(isCritical ? [isTrue] : []), octets(value));
}

function certificate(
  signer: { readonly subject: Subject; readonly privateKey: KeyObject },
  publicKey: KeyObject,
  options: CertificateRequestOptions,
  extensions: readonly Buffer[],
): string {
  const isEd25519 = signer.privateKey.asymmetricKeyType === 'ed25519';
  const algorithm = sequence(oid(signatureAlgorithm[isEd25519 ? 'Ed25519' : 'P-256']));
  const body = sequence(
    der(0xa0, positiveInteger(Buffer.from([2]))),
    positiveInteger(randomBytes(16)),
    algorithm,
    nameOf(signer.subject),
    sequence(
      time(options.notBefore ?? new Date(Date.now() - hour)),
      time(options.notAfter ?? new Date(Date.now() + 24 * hour)),
    ),
    nameOf(options.subject ?? {}),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign(isEd25519 ? null : 'sha256', body, signer.privateKey);
  const base64 = sequence(body, algorithm, bits(signature)).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Makes a self-signed certificate authority (RFC 5280), valid for a day unless told otherwise. */
export function makeCertificateAuthority(
  options: Omit<CertificateRequestOptions, 'sans' | 'usages'> = {},
): CertificateAuthority {
  const subject = options.subject ?? { organizations: ['talos'] };
  const { publicKey, privateKey } = newKeyPair(options.algorithm ?? 'Ed25519');
  const keyIdentifier = createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
  const crt = certificate({ subject, privateKey }, publicKey, { ...options, subject }, [
    extension('2.5.29.19', true, sequence(isTrue)),
    // keyCertSign and cRLSign
    extension('2.5.29.15', true, bits(Buffer.from([0x06]), 1)),
    extension('2.5.29.14', false, octets(keyIdentifier)),
  ]);
  return { subject, crt, key: pkcs8(privateKey), privateKey };
}

/** Issues a certificate for a new key. */
export function issueCertificate(
  authority: CertificateAuthority,
  options: CertificateRequestOptions = {},
): IssuedCertificate {
  const { publicKey, privateKey } = newKeyPair(options.algorithm ?? 'Ed25519');
  const usages = options.usages ?? ['serverAuth', 'clientAuth'];
  const sans = options.sans ?? [];
  const crt = certificate(authority, publicKey, options, [
    // digitalSignature
    extension('2.5.29.15', true, bits(Buffer.from([0x80]), 7)),
    extension('2.5.29.37', false, sequence(...usages.map((usage) => oid(usageOid[usage])))),
    ...(sans.length === 0
      ? []
      : [extension('2.5.29.17', false, sequence(...sans.map(generalName)))]),
  ]);
  return { crt, key: pkcs8(privateKey) };
}
