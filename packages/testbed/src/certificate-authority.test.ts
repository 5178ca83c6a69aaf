import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { addressBytes, createCertificateAuthority } from './certificate-authority.ts';

const authority = createCertificateAuthority('test root');

describe('createCertificateAuthority', () => {
  it('issues certificates that chain to its root and carry the key that comes with them', () => {
    const root = new X509Certificate(authority.certificate);
    const issued = authority.client({ commonName: 'somebody' });
    const leaf = new X509Certificate(issued.certificate);

    expect(root.ca).toBe(true);
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.verify(leaf.publicKey)).toBe(false);
    expect(leaf.checkPrivateKey(createPrivateKey(issued.key))).toBe(true);
  });

  it('keeps the names of a client byte for byte, blanks and non-ASCII included', () => {
    const { certificate } = authority.client({
      commonName: ' system:node:wörker ',
      organizations: ['system:nodes', 'second group '],
    });
    const { raw, subject } = new X509Certificate(certificate);

    expect(raw.includes(Buffer.from(' system:node:wörker ', 'utf8'))).toBe(true);
    expect(raw.includes(Buffer.from('second group ', 'utf8'))).toBe(true);
    expect(subject.indexOf('system:nodes')).toBeLessThan(subject.indexOf('second group'));
  });

  it('puts DNS names and both kinds of addresses into a serving certificate', () => {
    const { certificate } = authority.server(
      { commonName: 'server' },
      { dnsNames: ['kubernetes'], ipAddresses: ['10.5.0.2', 'fd00::2'] },
    );
    const leaf = new X509Certificate(certificate);

    expect(leaf.checkHost('kubernetes')).toBe('kubernetes');
    expect(leaf.checkHost('other')).toBeUndefined();
    expect(leaf.checkIP('10.5.0.2')).toBe('10.5.0.2');
    expect(leaf.checkIP('fd00::2')).toBe('fd00::2');
    expect(leaf.checkIP('10.5.0.3')).toBeUndefined();
  });
});

describe('addressBytes', () => {
  it.each([
    ['10.5.0.21', '0a050015'],
    ['::', '00000000000000000000000000000000'],
    ['fd00::5:21', 'fd000000000000000000000000050021'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['::ffff:10.5.0.21', '00000000000000000000ffff0a050015'],
  ])('spells %s as %s', (text, hex) => {
    expect(addressBytes(text).toString('hex')).toBe(hex);
  });

  it('names what is no address', () => {
    expect(() => addressBytes('10.5.0')).toThrow('"10.5.0" is not an IP address.');
  });
});
