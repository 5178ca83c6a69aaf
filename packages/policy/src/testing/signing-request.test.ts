import { verify } from 'node:crypto';
import * as asn1js from 'asn1js';
import { CertificationRequest, GeneralNames } from 'pkijs';
import { describe, expect, it } from 'vitest';
import { baselineIdentity } from './baseline-identity.ts';
import { element, integer, objectIdentifier, sequence } from './der-writer.ts';
import { dnsEntry, type GeneralName, ipEntry } from './general-name.ts';
import { ipOctets } from './ip-octets.ts';
import { type KeyName, poolKey } from './key-pool.ts';
import type { SignatureAlgorithm } from './signature-algorithm.ts';
import { buildRequest, buildRequestDer, honestRequestFor } from './signing-request.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

function sanOf(der: Uint8Array): { tag: number; text: string }[] {
  const request = CertificationRequest.fromBER(new Uint8Array(der));
  const extensions = request.attributes?.[0]?.values[0] as asn1js.Sequence;
  const extension = extensions.valueBlock.value[0] as asn1js.Sequence;
  const value = extension.valueBlock.value.at(-1) as asn1js.OctetString;
  const names = new GeneralNames({
    schema: asn1js.fromBER(value.valueBlock.valueHexView).result,
  });
  return names.names.map(({ type, value }) => ({
    tag: type,
    text:
      typeof value === 'string' ? value : hex(value?.valueBlock?.valueHexView ?? new Uint8Array(0)),
  }));
}

describe('element', () => {
  it.each([
    ['minimal', element(0x04, Uint8Array.of(1)), '040101'],
    ['padded', element(0x04, Uint8Array.of(1), { padded: 2 }), '0482000101'],
    ['indefinite', element(0x24, element(0x04, Uint8Array.of(1)), 'indefinite'), '24800401010000'],
    ['a lie', element(0x04, Uint8Array.of(1), { octets: [5] }), '040501'],
    ['long', element(0x04, new Uint8Array(200)).subarray(0, 3), '0481c8'],
    ['a high tag number', element([0x9f, 0x1f], Uint8Array.of(1)), '9f1f0101'],
  ])('writes lengths that are %s', (_, bytes, expected) => {
    expect(hex(bytes)).toBe(expected);
  });

  it('writes integers with as few octets as their sign permits', () => {
    expect([0, 127, 128, 256, -1, -128, -129].map((value) => hex(integer(value)))).toEqual([
      '020100',
      '02017f',
      '02020080',
      '02020100',
      '0201ff',
      '020180',
      '0202ff7f',
    ]);
  });

  it('writes object identifiers', () => {
    expect(hex(objectIdentifier('1.2.840.113549.1.9.14'))).toBe('06092a864886f70d01090e');
    expect(hex(objectIdentifier('2.5.29.17'))).toBe('0603551d11');
  });
});

describe('ipOctets', () => {
  it.each([
    ['10.5.0.11', '0a05000b'],
    ['::', '00'.repeat(16)],
    ['fd00:5::11', 'fd000005000000000000000000000011'],
    ['::ffff:10.5.0.11', '00000000000000000000ffff0a05000b'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ])('reads %s', (text, expected) => {
    expect(hex(ipOctets(text))).toBe(expected);
  });

  it('refuses what is no address, naming it', () => {
    expect(() => ipOctets('10.5.0.256')).toThrow('10.5.0.256 is no IP address');
  });
});

// Keys are made on first use, which takes seconds on a busy machine.
describe('buildRequest', { timeout: 120_000 }, () => {
  it('builds a baseline that pkijs reads as meant', () => {
    const csr = buildRequest();
    expect(csr.spec.username).toBe('system:node:worker-1');
    const request = CertificationRequest.fromBER(buildRequestDer());
    expect(
      request.subject.typesAndValues.map(({ type, value }) => [type, value.valueBlock.value]),
    ).toEqual([
      ['2.5.4.10', 'system:nodes'],
      ['2.5.4.3', 'system:node:worker-1'],
    ]);
    expect(sanOf(buildRequestDer())).toEqual([
      { tag: 2, text: 'worker-1' },
      { tag: 7, text: '0a05000b' },
      { tag: 7, text: 'fd000005000000000000000000000011' },
    ]);
  });

  const signed: [KeyName, SignatureAlgorithm | undefined, string | null][] = [
    ['P-256', undefined, 'sha256'],
    ['P-256', 'ecdsa-sha1', 'sha1'],
    ['P-384', undefined, 'sha384'],
    ['P-521', undefined, 'sha512'],
    ['RSA-2048', undefined, 'sha256'],
    ['RSA-2048', 'rsa-md5', 'md5'],
    ['Ed25519', undefined, null],
    ['Ed448', undefined, null],
    ['P-224', undefined, 'sha256'],
    ['secp256k1', undefined, 'sha256'],
    ['brainpoolP256r1', undefined, 'sha256'],
    ['DSA-2048', undefined, 'sha256'],
  ];

  it.each(signed)(
    'signs with %s %s, and breaks that signature on demand',
    (key, algorithm, digest) => {
      const chosen = algorithm === undefined ? {} : { signatureAlgorithm: algorithm };
      const verifies = (signature: 'valid' | 'broken') => {
        const request = CertificationRequest.fromBER(
          buildRequestDer({ key, ...chosen, signature }),
        );
        const value = request.signatureValue.valueBlock.valueHexView;
        const spki = request.subjectPublicKeyInfo.toSchema().toBER();
        expect(hex(new Uint8Array(spki))).toBe(hex(poolKey(key).spki));
        // The policy declares the little of node:crypto that it uses, and no key objects.
        const imported = poolKey(key).publicKey as never;
        return verify(digest, new Uint8Array(request.tbsView), imported, new Uint8Array(value));
      };
      expect(verifies('valid')).toBe(true);
      expect(verifies('broken')).toBe(false);
    },
  );

  it('writes all nine kinds of SAN entries with their tag', () => {
    const san: GeneralName[] = [
      { kind: 'otherName', type: '1.3.6.1.4.1.311.20.2.3', value: integer(1) },
      { kind: 'email', text: 'root@worker-1' },
      dnsEntry('worker-1'),
      { kind: 'x400Address', content: sequence() },
      { kind: 'directoryName', rdns: [] },
      { kind: 'ediPartyName', party: 'worker-1' },
      { kind: 'uri', text: 'https://worker-1' },
      ipEntry('10.5.0.11'),
      { kind: 'registeredId', oid: '1.2.3' },
    ];
    expect(sanOf(buildRequestDer({ san })).map(({ tag }) => tag)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });

  it('changes the object around the bytes', () => {
    const csr = buildRequest({
      conditions: ['Approved'],
      deletionTimestamp: '2026-11-30T12:00:01Z',
      spec: { usages: null, groups: undefined },
    });
    expect(csr.status?.conditions?.[0]?.type).toBe('Approved');
    expect(csr.metadata.deletionTimestamp).toBe('2026-11-30T12:00:01Z');
    expect(csr.spec.usages).toBeNull();
    expect('groups' in csr.spec).toBe(false);
    expect('status' in buildRequest()).toBe(false);
  });
});

describe('honestRequestFor', () => {
  it('asks for the node name and the addresses that Talos gives', () => {
    const csr = honestRequestFor(baselineIdentity);
    const pem = Buffer.from(csr.spec.request ?? '', 'base64').toString();
    const der = Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ''), 'base64');
    expect(sanOf(der).map(({ text }) => text)).toEqual([
      'worker-1',
      '0a05000b',
      'fd000005000000000000000000000011',
    ]);
  });
});
