import { NODES_GROUP } from '../identity/node-user.ts';
import { quote } from '../quote.ts';
import type { ObjectInput, RuleFinding } from './rule.ts';

const kept: RuleFinding = [];

/** The bytes are one PEM block with one canonical PKCS #10 request, within the bounds. */
export function requestMalformed({ problem }: ObjectInput): RuleFinding {
  return problem === undefined ? kept : [problem];
}

/** The authenticated user is the node. Names are compared as they are: no case, no trimming. */
export function requesterNotNode({ requester, expectedUser }: ObjectInput): RuleFinding {
  if (requester.username === expectedUser) return kept;
  return [`the requester ${quote(requester.username)} is not ${quote(expectedUser)}`];
}

/** The authenticated user has a node's credential; further groups do not matter. */
export function requesterGroupMissing({ requester }: ObjectInput): RuleFinding {
  if (requester.groups.includes(NODES_GROUP)) return kept;
  return [`the requester ${quote(requester.username)} is not in the group ${NODES_GROUP}`];
}

/**
 * The usages are, as a set, one of the two that the signer permits (Kubernetes,
 * `pkg/apis/certificates/v1/defaults.go`).
 */
export function usagesNotPermitted({ terms }: ObjectInput): RuleFinding {
  const usages = new Set(terms.usages);
  const required = ['digital signature', 'server auth'];
  const missing = required.filter((usage) => !usages.has(usage));
  const surplus = [...usages].filter(
    (usage) => !required.includes(usage) && usage !== 'key encipherment',
  );
  return [
    ...missing.map((usage) => `the usage ${quote(usage)} is missing`),
    ...surplus.map((usage) => `the usage ${quote(usage)} is not one of a serving certificate`),
  ];
}

/** Shortest lifetime that the API takes, in seconds. */
const shortestLifetime = 600;

/** The lifetime, if one is asked for, is neither below the API's minimum nor above the cluster's maximum. */
export function lifetimeNotPermitted({ terms, options }: ObjectInput): RuleFinding {
  const seconds = terms.expirationSeconds;
  if (seconds === undefined || seconds === null) return kept;
  if (!Number.isInteger(seconds) || seconds < shortestLifetime) {
    return [
      `the lifetime in spec.expirationSeconds, ${quote(String(seconds))}, is below ${shortestLifetime}`,
    ];
  }
  const longest = options.maxExpirationSeconds;
  if (longest === undefined || longest === null || seconds <= longest) return kept;
  return [`the lifetime in spec.expirationSeconds, ${seconds}, is above ${quote(String(longest))}`];
}
