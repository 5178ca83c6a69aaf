import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { issueCertificate, makeCertificateAuthority } from './certificates.ts';

describe.each(['Ed25519', 'P-256'] as const)('certificates with %s keys', (algorithm) => {
  const authority = makeCertificateAuthority({ algorithm });
  const options = {
    subject: { commonName: 'node', organizations: ['os:reader', 'talos'] },
    sans: ['10.5.0.11', 'fd00:5::11', 'worker-1'],
    notBefore: new Date('2026-01-02T03:04:05Z'),
    notAfter: new Date('2051-01-02T03:04:05Z'),
    usages: ['clientAuth'] as const,
    algorithm,
  };
  const issued = issueCertificate(authority, options);
  const leaf = new X509Certificate(issued.crt);

  it('are signed by their authority and by no other of the same name', () => {
    const ca = new X509Certificate(authority.crt);
    expect([ca.ca, ca.verify(ca.publicKey)]).toStrictEqual([true, true]);
    expect([leaf.ca, leaf.verify(ca.publicKey)]).toStrictEqual([false, true]);
    const stranger = new X509Certificate(makeCertificateAuthority({ algorithm }).crt);
    expect(leaf.verify(stranger.publicKey)).toBe(false);
  });

  it('carry what was asked for', () => {
    expect(leaf.subject).toBe('O=os:reader\nO=talos\nCN=node');
    expect(leaf.checkIP('10.5.0.11')).toBe('10.5.0.11');
    expect(leaf.checkIP('fd00:5::11')).toBe('fd00:5::11');
    expect(leaf.checkHost('worker-1')).toBe('worker-1');
    expect(leaf.checkIP('10.5.0.12')).toBeUndefined();
    expect(leaf.keyUsage).toStrictEqual(['1.3.6.1.5.5.7.3.2']);
    expect(new Date(leaf.validFrom).toISOString()).toBe('2026-01-02T03:04:05.000Z');
    expect(new Date(leaf.validTo).toISOString()).toBe('2051-01-02T03:04:05.000Z');
  });
});
