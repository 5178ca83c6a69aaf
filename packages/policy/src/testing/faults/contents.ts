import {
  type Extension,
  extensionElement,
  extensionRequest,
  type RequestAttribute,
  requestOids,
  sanExtension,
} from '../certification-request.ts';
import { characterString, element, integer, sequence, textBytes } from '../der-writer.ts';
import { nodeSubject } from '../distinguished-name.ts';
import type { Draw } from '../draw.ts';
import type { GeneralName } from '../general-name.ts';
import { type CaseParts, withChanges, withSan } from '../request-case.ts';
import type { Fault } from './fault.ts';

const foreignExtensions: readonly [Extension, ...Extension[]] = [
  { type: requestOids.basicConstraints, value: sequence() },
  { type: requestOids.keyUsage, value: Uint8Array.of(3, 2, 5, 0xa0) },
  { type: requestOids.extKeyUsage, value: sequence() },
  { type: '1.3.6.1.4.1.99999.1', critical: true, value: Uint8Array.of(5, 0) },
];

const foreignAttributes: readonly [RequestAttribute, ...RequestAttribute[]] = [
  { type: requestOids.challengePassword, values: [characterString('utf8', 'secret')] },
  { type: requestOids.unstructuredName, values: [characterString('ia5', 'worker')] },
  { type: '1.3.6.1.4.1.99999.2', values: [] },
];

function foreignKinds(parts: CaseParts, draw: Draw): GeneralName {
  const name = parts.identity.nodeName;
  return draw.one<GeneralName>([
    { kind: 'otherName', type: '1.3.6.1.4.1.311.20.2.3', value: characterString('utf8', name) },
    { kind: 'email', text: `root@${name}` },
    { kind: 'x400Address', content: new Uint8Array(0) },
    { kind: 'directoryName', rdns: nodeSubject(name) },
    { kind: 'ediPartyName', party: name },
    { kind: 'uri', text: `https://${name}/` },
    { kind: 'registeredId', oid: '1.2.3.4' },
    { kind: 'raw', bytes: element(0x89, textBytes(name)) },
    { kind: 'raw', bytes: integer(7) },
    { kind: 'raw', bytes: element(0x42, textBytes(name)) },
  ]);
}

/** Faults of usages, lifetime, extensions, attributes and of the kinds of SAN entries. */
export const faultsOfContents: readonly Fault[] = [
  {
    name: 'usages that the signer does not permit',
    expect: { kind: 'deny', reasons: ['UsagesNotPermitted'] },
    spoil: (parts, draw) =>
      withChanges(parts, {
        spec: {
          usages: draw.one<unknown>([
            ['digital signature', 'key encipherment', 'client auth'],
            ['digital signature', 'server auth', 'client auth'],
            ['key encipherment', 'server auth'],
            ['server auth'],
            ['digital signature', 'digital signature'],
            ['any'],
            ['Digital Signature', 'Server Auth'],
            [],
            null,
            undefined,
          ]),
        },
      }),
  },
  {
    name: 'a lifetime below the minimum of the API',
    expect: { kind: 'deny', reasons: ['LifetimeNotPermitted'] },
    spoil: (parts, draw) =>
      withChanges(parts, { expirationSeconds: draw.one([599, 60, 1, 0, -1]) }),
  },
  {
    name: 'a lifetime above the ceiling',
    expect: { kind: 'deny', reasons: ['LifetimeNotPermitted'] },
    spoil: (parts, draw) => {
      const ceiling = draw.one([600, 86_400, 31_536_000]);
      const over = { ...parts, options: { ...parts.options, maxExpirationSeconds: ceiling } };
      return withChanges(over, { expirationSeconds: ceiling + draw.one([1, 3600]) });
    },
  },
  {
    name: 'another extension',
    expect: { kind: 'deny', reasons: ['ExtensionNotPermitted'] },
    spoil: (parts, draw) => {
      const all = [sanExtension(parts.san), draw.one(foreignExtensions)];
      return withChanges(parts, { extensions: draw.shuffled(all) });
    },
  },
  {
    name: 'the SAN twice',
    expect: { kind: 'deny', reasons: ['ExtensionNotPermitted'] },
    spoil: (parts) => {
      const san = sanExtension(parts.san);
      return withChanges(parts, { extensions: [san, san] });
    },
  },
  {
    name: 'another attribute',
    expect: { kind: 'deny', reasons: ['AttributeNotPermitted'] },
    spoil: (parts, draw) =>
      withChanges(parts, {
        attributes: [extensionRequest([sanExtension(parts.san)]), draw.one(foreignAttributes)],
      }),
  },
  {
    name: 'an empty second extensionRequest attribute',
    expect: { kind: 'deny', reasons: ['AttributeNotPermitted'] },
    spoil: (parts) =>
      withChanges(parts, {
        attributes: [extensionRequest([sanExtension(parts.san)]), extensionRequest([])],
      }),
  },
  {
    name: 'a second extensionRequest attribute with an extension',
    expect: { kind: 'deny', reasons: ['ExtensionNotPermitted', 'AttributeNotPermitted'] },
    spoil: (parts, draw) =>
      withChanges(parts, {
        attributes: [
          extensionRequest([sanExtension(parts.san)]),
          extensionRequest([draw.one(foreignExtensions)]),
        ],
      }),
  },
  {
    name: 'a second value of the extensionRequest attribute',
    expect: { kind: 'deny', reasons: ['ExtensionNotPermitted', 'AttributeNotPermitted'] },
    spoil: (parts, draw) => {
      const values = [sanExtension(parts.san), draw.one(foreignExtensions)];
      return withChanges(parts, {
        attributes: [
          {
            type: requestOids.extensionRequest,
            values: values.map((extension) => sequence(extensionElement(extension))),
          },
        ],
      });
    },
  },
  {
    name: 'no attribute at all',
    expect: { kind: 'deny', reasons: ['SanMissing'] },
    spoil: (parts) => withChanges(parts, { attributes: [] }),
  },
  {
    name: 'no extension at all',
    expect: { kind: 'deny', reasons: ['SanMissing'] },
    spoil: (parts) => withChanges(parts, { extensions: [] }),
  },
  {
    name: 'an empty SAN',
    expect: { kind: 'deny', reasons: ['SanMissing'] },
    spoil: (parts) => withSan(parts, []),
  },
  {
    name: 'an entry of another kind',
    expect: { kind: 'deny', reasons: ['SanTypeNotPermitted'] },
    spoil: (parts, draw) =>
      withSan(parts, draw.shuffled([...parts.san, foreignKinds(parts, draw)])),
  },
  {
    name: 'entries of other kinds only',
    expect: { kind: 'deny', reasons: ['SanTypeNotPermitted'] },
    spoil: (parts, draw) => withSan(parts, [foreignKinds(parts, draw)]),
  },
];
