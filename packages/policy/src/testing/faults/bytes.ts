import { requestOids, sanExtension } from '../certification-request.ts';
import {
  boolean,
  concatBytes,
  contextTag,
  element,
  objectIdentifier,
  octetString,
  sequence,
  setInGivenOrder,
  textBytes,
} from '../der-writer.ts';
import { dnsEntry, generalName, ipEntry } from '../general-name.ts';
import { poolKey } from '../key-pool.ts';
import { pemText } from '../pem-writer.ts';
import { type CaseParts, withChanges, withSan } from '../request-case.ts';
import { buildRequestDer, type RequestChanges } from '../signing-request.ts';
import type { Fault } from './fault.ts';

const malformed = { kind: 'deny', reasons: ['RequestMalformed'] } as const;

function changing(name: string, changes: RequestChanges): Fault {
  return { name, expect: malformed, spoil: (parts) => withChanges(parts, changes) };
}

/** Content of the outermost element of a DER text that is longer than 127 octets. */
function contentOf(der: Uint8Array): Uint8Array {
  const first = der[1] ?? 0;
  return der.subarray(first < 0x80 ? 2 : 2 + (first & 0x7f));
}

function sanValue(parts: CaseParts, value: Uint8Array): CaseParts {
  return withChanges(parts, { extensions: [{ type: requestOids.subjectAltName, value }] });
}

const pemFaults: readonly Fault[] = [
  changing('text before the block', { pem: { before: 'Subject: worker\n' } }),
  changing('text behind the block', { pem: { after: 'x\n' } }),
  changing('byte order mark', { pem: { before: '\ufeff' } }),
  changing('another label', { pem: { label: 'NEW CERTIFICATE REQUEST' } }),
  changing('labels that differ', { pem: { endLabel: 'CERTIFICATE' } }),
  changing('PEM headers', { pem: { headers: ['Proc-Type: 4,ENCRYPTED'] } }),
  changing('lines that end in CR', { pem: { eol: '\r' } }),
  changing('base64 of the URL alphabet', {
    pem: { rewriteBase64: (base64) => `-${base64.slice(1)}` },
  }),
  changing('an unfinished group of base64', {
    pem: { rewriteBase64: (base64) => `${base64.replaceAll('=', '')}A===` },
  }),
  changing('an empty request', { request: '' }),
  changing('a request that is no base64', { request: '*** not base64 ***' }),
  changing('no request', { spec: { request: undefined } }),
  changing('a request that is a number', { spec: { request: 17 } }),
  {
    name: 'two blocks',
    expect: malformed,
    spoil: (parts) => {
      const block = pemText(buildRequestDer(parts.changes));
      return withChanges(parts, { pemText: block + block });
    },
  },
  {
    name: 'DER instead of PEM',
    expect: malformed,
    spoil: (parts) => {
      const der = buildRequestDer(parts.changes);
      return withChanges(parts, { request: Buffer.from(der).toString('base64') });
    },
  },
  changing('more than 65,536 bytes of PEM', { pem: { after: ' '.repeat(65_536) } }),
];

const envelopeFaults: readonly Fault[] = [
  changing('a byte behind the request', {
    rewriteRequest: (request) => concatBytes([request, Uint8Array.of(0)]),
  }),
  changing('an element at the end of the request', {
    rewriteRequest: (request) => element(0x30, [contentOf(request), Uint8Array.of(5, 0)]),
  }),
  changing('an indefinite length', {
    rewriteInfo: (info) => element(0x30, contentOf(info), 'indefinite'),
  }),
  changing('a padded length', {
    rewriteInfo: (info) => element(0x30, contentOf(info), { padded: 4 }),
  }),
  changing('a length that is too long', {
    rewriteRequest: (request) => element(0x30, contentOf(request), { octets: [0x83, 1, 0, 0] }),
  }),
  changing('a SET where the SEQUENCE belongs', {
    rewriteInfo: (info) => element(0x31, contentOf(info)),
  }),
  changing('a request that ends early', {
    rewriteRequest: (request) => request.subarray(0, request.length - 1),
  }),
  changing('version 2', { version: 1 }),
  changing('a padded version', { version: element(0x02, Uint8Array.of(0, 0)) }),
  changing('no attributes element', { attributes: null }),
  changing('a NULL where an attribute belongs', { attributes: Uint8Array.of(5, 0) }),
  changing('NULL parameters beside an ECDSA algorithm', {
    key: 'P-256',
    signatureAlgorithm: sequence(
      objectIdentifier('1.2.840.10045.4.3.2'),
      Uint8Array.of(0x05, 0x00),
    ),
  }),
  changing('unused bits in the signature', { signatureUnusedBits: 1 }),
  {
    name: 'a point that is not on its curve',
    expect: malformed,
    spoil: (parts) => {
      const spki = new Uint8Array(poolKey('P-256').spki);
      spki.fill(0x11, spki.length - 8);
      return withChanges(parts, { key: 'P-256', spki });
    },
  },
];

const contentFaults: readonly Fault[] = [
  {
    name: 'critical FALSE written out',
    expect: malformed,
    spoil: (parts) =>
      withChanges(parts, { extensions: [sanExtension(parts.san, 'written false')] }),
  },
  {
    name: 'a BOOLEAN that is neither 0x00 nor 0xFF',
    expect: malformed,
    spoil: (parts) => {
      const san = octetString(sequence(...parts.san.map(generalName)));
      const flag = new Uint8Array(boolean(true));
      flag[2] = 1;
      const extension = sequence(objectIdentifier(requestOids.subjectAltName), flag, san);
      const values = setInGivenOrder(sequence(extension));
      return withChanges(parts, {
        attributes: sequence(objectIdentifier(requestOids.extensionRequest), values),
      });
    },
  },
  {
    name: 'an address of a wrong size',
    expect: malformed,
    spoil: (parts, draw) => {
      const size = draw.one([0, 1, 3, 5, 8, 15, 17, 32]);
      return withSan(parts, draw.shuffled([...parts.san, ipEntry(new Uint8Array(size))]));
    },
  },
  {
    name: 'a constructed dNSName',
    expect: malformed,
    spoil: (parts) => {
      const inner = element(0x16, textBytes(parts.identity.nodeName));
      return withSan(parts, [...parts.san, { kind: 'raw', bytes: contextTag(2, inner, true) }]);
    },
  },
  {
    name: 'a byte behind the SAN',
    expect: malformed,
    spoil: (parts) =>
      sanValue(parts, concatBytes([sequence(...parts.san.map(generalName)), Uint8Array.of(0)])),
  },
  {
    name: 'a SAN with a padded length',
    expect: malformed,
    spoil: (parts) => sanValue(parts, element(0x30, parts.san.map(generalName), { padded: 3 })),
  },
  {
    name: 'more than 256 SAN entries',
    expect: malformed,
    spoil: (parts) => {
      const entry = dnsEntry(parts.identity.nodeName);
      return withSan(parts, [...parts.san, ...Array.from({ length: 256 }, () => entry)]);
    },
  },
  {
    name: 'attributes in the wrong order',
    expect: malformed,
    spoil: (parts) => {
      const attributes = [
        sequence(objectIdentifier(requestOids.extensionRequest), setInGivenOrder(sequence())),
        sequence(objectIdentifier(requestOids.unstructuredName), setInGivenOrder()),
      ];
      const sorted = [...attributes].sort((left, right) => Buffer.compare(left, right));
      return withChanges(parts, { attributes: concatBytes(sorted.reverse()) });
    },
  },
];

/** Faults of the bytes: PEM, DER, structure and bounds. */
export const faultsOfBytes: readonly Fault[] = [...pemFaults, ...envelopeFaults, ...contentFaults];
