import { SIGNER_NAME } from '../identity/node-user.ts';
import { quote } from '../quote.ts';
import type { Requester, RequestTerms } from '../requester.ts';

/** A CertificateSigningRequest that was checked: what is not of the expected type counts as absent. */
export type CheckedRequest =
  | { readonly kind: 'notOurs'; readonly detail: string }
  | { readonly kind: 'decided'; readonly detail: string }
  | {
      readonly kind: 'open';
      readonly request: string;
      readonly requester: Requester;
      readonly terms: RequestTerms;
    };

const decisions: readonly unknown[] = ['Approved', 'Denied', 'Failed'];

/** Checks an object as it came from the network, whatever it holds. */
export function checkSigningRequest(csr: unknown): CheckedRequest {
  const { metadata, spec, status } = recordOf(csr);
  const { signerName } = recordOf(spec);
  if (signerName !== SIGNER_NAME) {
    return {
      kind: 'notOurs',
      detail: `The signer is ${quote(textOf(signerName))}, not ${SIGNER_NAME}.`,
    };
  }
  const decided = decidedBy(recordOf(metadata), recordOf(status));
  if (decided !== undefined) return { kind: 'decided', detail: decided };
  return { kind: 'open', ...openRequest(recordOf(spec)) };
}

/** The requester of a request, with everything that is no text left out. */
export function requesterOf(spec: Record<string, unknown>): Requester {
  return { username: textOf(spec['username']), groups: textsOf(spec['groups']) };
}

function openRequest(spec: Record<string, unknown>): {
  request: string;
  requester: Requester;
  terms: RequestTerms;
} {
  const { expirationSeconds: seconds, usages } = spec;
  const isAbsent = seconds === undefined || seconds === null;
  return {
    request: textOf(spec['request']),
    requester: requesterOf(spec),
    terms: {
      // A usage that is no text is some usage, and none that is permitted.
      usages: Array.isArray(usages) ? usages.map((usage) => textOf(usage)) : [],
      // Likewise a lifetime that is no number is none that is permitted.
      ...(isAbsent
        ? {}
        : { expirationSeconds: typeof seconds === 'number' ? seconds : Number.NaN }),
    },
  };
}

/** Why nothing may be written to this object any more. What cannot be read counts as a decision. */
function decidedBy(
  { deletionTimestamp }: Record<string, unknown>,
  { conditions, certificate }: Record<string, unknown>,
): string | undefined {
  if (deletionTimestamp !== undefined && deletionTimestamp !== null) {
    return 'The request is being deleted.';
  }
  if (certificate !== undefined && certificate !== null && certificate !== '') {
    return 'The request has a certificate.';
  }
  if (conditions === undefined || conditions === null) return undefined;
  if (!Array.isArray(conditions)) return 'The conditions of the request cannot be read.';
  for (const condition of conditions as readonly unknown[]) {
    const { type } = recordOf(condition);
    if (typeof type !== 'string') return 'A condition of the request cannot be read.';
    if (decisions.includes(type)) return `The request has the condition ${type}.`;
  }
  return undefined;
}

/** The value as an object; whatever is none is an empty one. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function textsOf(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}
