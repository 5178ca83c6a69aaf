import fc from 'fast-check';
import type { NodeReading } from '../../identity/node-identity.ts';
import { identities } from './identities.ts';

/** Outcomes of asking that machine which say nothing of its names. */
export function readingsWithoutIdentity(nodeName: string): fc.Arbitrary<NodeReading> {
  return fc.constantFrom<NodeReading>(
    { kind: 'unreadable', nodeName, cause: 'connection refused' },
    { kind: 'notRead', nodeName },
    { kind: 'unmanaged' },
  );
}

/** Readings of all four kinds. */
export function readings(): fc.Arbitrary<NodeReading> {
  return fc.oneof(
    { weight: 3, arbitrary: identities().map((identity) => ({ kind: 'read', identity }) as const) },
    {
      weight: 1,
      arbitrary: identities().chain(({ nodeName }) => readingsWithoutIdentity(nodeName)),
    },
  );
}
