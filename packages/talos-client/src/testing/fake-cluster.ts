import type { TalosAccess } from '../talos-client.ts';
import {
  type CertificateAuthority,
  type IssuedCertificate,
  issueCertificate,
  makeCertificateAuthority,
} from './certificates.ts';

/** The certificates of one Talos cluster: its authority, and what to connect with. */
export interface FakeClusterCertificates {
  readonly authority: CertificateAuthority;
  /** A server certificate for these names and addresses. */
  serverCertificate(...sans: readonly string[]): IssuedCertificate;
  /** Access with the role `os:reader` through these endpoints. */
  access(...endpoints: readonly string[]): TalosAccess;
}

/** Makes the certificates of a cluster as Talos does: Ed25519, roles as organizations. */
export function fakeClusterCertificates(): FakeClusterCertificates {
  const authority = makeCertificateAuthority();
  return {
    authority,
    serverCertificate: (...sans) =>
      issueCertificate(authority, {
        subject: { commonName: 'node', organizations: ['talos'] },
        sans,
        usages: ['serverAuth'],
      }),
    access: (...endpoints) => {
      const subject = { organizations: ['os:reader'] };
      const { crt, key } = issueCertificate(authority, { subject, usages: ['clientAuth'] });
      return { endpoints, ca: authority.crt, crt, key };
    },
  };
}
