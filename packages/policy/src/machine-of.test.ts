import { expect, test } from 'vitest';
import { machineOf } from './index.ts';
import { buildRequest, commonName, nodeSubject, organization } from './testing/index.ts';

const managed = (nodeName: string) => ['worker-1', 'worker-2'].includes(nodeName);
const own = (nodeName: string) => ({ kind: 'own', nodeName });
const named = (nodeName: string) => ({ kind: 'named', nodeName });
const none = { kind: 'none' };

test.for([
  ['the requester’s own', { username: 'system:node:worker-1' }, own('worker-1')],
  [
    'the requester’s, whomever the common name names',
    { username: 'system:node:worker-2', subject: nodeSubject('worker-1') },
    own('worker-2'),
  ],
  [
    'the requester’s, even if the bytes are no request',
    { username: 'system:node:worker-1', request: 'AAAA' },
    own('worker-1'),
  ],
  ['the one that a stranger names', { username: 'joe' }, named('worker-1')],
  ['the one that an unmanaged node names', { username: 'system:node:guest-9' }, named('worker-1')],
  [
    'the one that any of several common names names',
    {
      username: 'joe',
      subject: [
        organization('system:nodes'),
        commonName('system:node:guest-9'),
        commonName('system:node:worker-2'),
      ],
    },
    named('worker-2'),
  ],
  [
    'the one that is named in another type of string',
    { username: 'joe', subject: [commonName('system:node:worker-1', 'bmp')] },
    named('worker-1'),
  ],
  [
    'none where both are unmanaged',
    { username: 'system:node:guest-9', subject: nodeSubject('guest-9') },
    none,
  ],
  ['none for another case', { username: 'x', subject: nodeSubject('Worker-1') }, none],
  ['none for an empty name', { username: 'system:node:', subject: nodeSubject('') }, none],
  ['none for bytes that are no request', { username: 'joe', request: 'AAAA' }, none],
] as const)('the machine is %s', ([, changes, expected]) => {
  expect(machineOf(buildRequest(changes), managed)).toEqual(expected);
});

test('objects that hold anything else are about none', () => {
  for (const csr of [null, 5, {}, { spec: null }, { spec: { request: 5, username: [] } }]) {
    expect(machineOf(csr as never, () => true)).toEqual(none);
  }
});
