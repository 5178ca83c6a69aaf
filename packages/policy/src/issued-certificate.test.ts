import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseCsr, readIssuedCertificate } from './index.ts';
import {
  algorithmIdentifier,
  bitString,
  buildRequest,
  commonName,
  contextTag,
  distinguishedName,
  dnsEntry,
  element,
  extensionElement,
  type GeneralName,
  integer,
  ipEntry,
  nodeSubject,
  organization,
  poolKey,
  type Rdn,
  sanExtension,
  sequence,
  signBytes,
  textBytes,
} from './testing/index.ts';

interface Parts {
  readonly subject?: readonly Rdn[];
  readonly san?: readonly GeneralName[] | null;
  readonly notBefore?: Uint8Array;
  readonly notAfter?: Uint8Array;
}

const utcTime = (text: string) => element(0x17, textBytes(text));
const generalizedTime = (text: string) => element(0x18, textBytes(text));
const ownSan = [dnsEntry('worker-1'), ipEntry('10.5.0.11'), ipEntry('fd00:5::11')];

/** A certificate as the signer of kube-controller-manager makes them. */
function certificate(parts: Parts = {}): Uint8Array {
  const { subject = nodeSubject('worker-1'), san = ownSan } = parts;
  const key = poolKey('P-256');
  const extensions = san === null ? [] : [extensionElement(sanExtension(san))];
  const tbs = sequence(
    contextTag(0, integer(2), true),
    integer(4711),
    algorithmIdentifier('ecdsa-sha256'),
    distinguishedName([commonName('kubernetes')]),
    sequence(
      parts.notBefore ?? utcTime('261130120000Z'),
      parts.notAfter ?? utcTime('271130120000Z'),
    ),
    distinguishedName(subject),
    key.spki,
    ...(extensions.length === 0 ? [] : [contextTag(3, sequence(...extensions), true)]),
  );
  const signature = signBytes(tbs, key, 'ecdsa-sha256');
  return sequence(tbs, algorithmIdentifier('ecdsa-sha256'), bitString(signature));
}

function pem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function read(parts: Parts) {
  const reading = readIssuedCertificate(certificate(parts));
  if (reading.kind === 'problem') throw new Error(reading.problem);
  return reading;
}

test('a certificate is read whole', () => {
  const der = certificate();
  const openssl = new X509Certificate(der);
  expect(readIssuedCertificate(pem(der))).toEqual({
    kind: 'certificate',
    nodeName: 'worker-1',
    commonNames: ['system:node:worker-1'],
    organizations: ['system:nodes'],
    dnsNames: ['worker-1'],
    ipAddresses: ['10.5.0.11', 'fd00:5::11'],
    otherNames: 0,
    notBefore: openssl.validFromDate.getTime(),
    notBeforeText: '2026-11-30T12:00:00Z',
    notAfter: openssl.validToDate.getTime(),
    notAfterText: '2027-11-30T12:00:00Z',
    fingerprint: openssl.fingerprint256.replaceAll(':', '').toLowerCase(),
    spki: poolKey('P-256').spki,
  });
});

test('its key can be compared with that of the request', () => {
  const spkiOf = (key: 'P-256' | 'P-384') => {
    const reading = parseCsr(buildRequest({ key }).spec.request ?? '');
    return reading.kind === 'parsed' ? reading.signed.spki : undefined;
  };
  expect(read({}).spki).toEqual(spkiOf('P-256'));
  expect(read({}).spki).not.toEqual(spkiOf('P-384'));
});

test('the first block is the leaf, in every form that it comes in', () => {
  const leaf = certificate();
  const chain = `a text before it\n${pem(leaf)}${pem(certificate({ san: null }))}`;
  const expected = readIssuedCertificate(leaf);
  expect(expected.kind).toBe('certificate');
  expect(readIssuedCertificate(chain)).toEqual(expected);
  expect(readIssuedCertificate(Buffer.from(chain))).toEqual(expected);
  expect(readIssuedCertificate(Buffer.from(chain).toString('base64'))).toEqual(expected);
  expect(readIssuedCertificate(chain.replaceAll('\n', '\r\n'))).toEqual(expected);
});

describe('the node name', () => {
  const node = commonName('system:node:worker-1');
  const nodes = organization('system:nodes');

  test.for([
    ['in either order', [node, nodes], 'worker-1'],
    ['of another organization', [organization('system:masters'), node], undefined],
    ['without an organization', [node], undefined],
    ['with a second common name', [nodes, node, commonName('system:node:cp-1')], undefined],
    ['with a second organization', [nodes, organization('system:masters'), node], undefined],
    ['in one RDN of two attributes', [[...nodes, ...node]], undefined],
    ['beside an empty RDN', [nodes, node, []], undefined],
    ['of no node', [nodes, commonName('joe')], undefined],
    ['in another type of string', [nodes, commonName('system:node:worker-1', 'bmp')], undefined],
  ] as const)('%s', ([, subject, expected]) => {
    expect(read({ subject }).nodeName).toBe(expected);
  });

  test('is missing, but every common name is told', () => {
    const subject = [nodes, node, commonName('system:node:cp-1')];
    expect(read({ subject }).commonNames).toEqual(['system:node:worker-1', 'system:node:cp-1']);
  });
});

test('names of other types are counted, and hide no others', () => {
  const san = [
    ...ownSan,
    { kind: 'email', text: 'a@b.example' },
    { kind: 'raw', bytes: Uint8Array.of(0x89, 0) },
  ] as const;
  expect(read({ san })).toMatchObject({
    dnsNames: ['worker-1'],
    ipAddresses: ['10.5.0.11', 'fd00:5::11'],
    otherNames: 2,
  });
  expect(read({ san: null })).toMatchObject({ dnsNames: [], ipAddresses: [], otherNames: 0 });
});

test('times of both types are read', () => {
  const { notAfterText } = read({ notAfter: generalizedTime('20510101000000Z') });
  expect(notAfterText).toBe('2051-01-01T00:00:00Z');
});

describe('what is no certificate gives a problem', () => {
  const der = certificate();

  test.for([
    ['nothing', '', 'no whole PEM block'],
    ['another text', 'hello', 'no whole PEM block'],
    ['a block without an end', '-----BEGIN CERTIFICATE-----\nAAAA\n', 'no whole PEM block'],
    ['base64 of no PEM', 'AAAA', 'no whole PEM block'],
    ['broken base64', pem(der).replace('M', '!'), 'no whole PEM block'],
    ['a request', pem(Uint8Array.of(0x30, 0)), 'not an X.509 certificate'],
    ['half a certificate', der.subarray(0, 100), 'not an X.509 certificate'],
    ['a byte too many', Buffer.concat([der, Buffer.of(0)]), 'not an X.509 certificate'],
    ['far too long a text', 'A'.repeat(2_000_000), 'too long'],
    ['no text', null as unknown as string, 'no certificate'],
  ] as const)('%s', ([, input, expected]) => {
    const reading = readIssuedCertificate(input);
    expect(reading.kind === 'problem' ? reading.problem : 'a certificate').toContain(expected);
  });

  test('and never an exception, whatever byte is changed', () => {
    const kinds = new Set<string>();
    for (let index = 0; index < der.length; index++) {
      const changed = der.slice();
      changed[index] = (changed[index] ?? 0) ^ 0x15;
      kinds.add(readIssuedCertificate(pem(changed)).kind);
    }
    expect([...kinds].toSorted()).toEqual(['certificate', 'problem']);
  });
});
