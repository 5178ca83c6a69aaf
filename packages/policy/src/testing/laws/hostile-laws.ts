import fc from 'fast-check';
import type { CertificateSigningRequest } from '../../csr/signing-request.ts';
import { denyReasons, pendingReasons } from '../../rules/reasons.ts';
import { honestRequests } from '../arbitraries/honest-requests.ts';
import { hostileObjects, hostileRequests, resignedRequests } from '../arbitraries/hostile-bytes.ts';
import { nearMisses } from '../arbitraries/near-misses.ts';
import { hostileReadings } from '../arbitraries/readings.ts';
import type { RequestCase } from '../request-case.ts';
import { broken, type Decide, type DecisionLaw, law, reasonsOf } from './law.ts';
import { foldedName, mayBeCertified, seenByPkijs } from './permission-oracle.ts';

const knownReasons = new Set([...Object.keys(denyReasons), ...Object.keys(pendingReasons)]);

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  if (ArrayBuffer.isView(value) || value instanceof Date) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}

const permittedUsages = [
  'digital signature,server auth',
  'digital signature,key encipherment,server auth',
];

const isDecision = (type: unknown) => type === 'Approved' || type === 'Denied' || type === 'Failed';

/** Why the object around an approved request should not have been approved, if so. */
function objectFault({ spec, status, metadata }: CertificateSigningRequest): string | null {
  const usages = [...new Set(spec.usages ?? [])].sort().join(',');
  if (spec.signerName !== 'kubernetes.io/kubelet-serving') return 'another signer';
  if (!spec.groups?.includes('system:nodes')) return 'a requester outside the group';
  if (!permittedUsages.includes(usages)) return 'other usages';
  if (metadata?.deletionTimestamp) return 'a request that is being deleted';
  if (status?.certificate) return 'a request with a certificate';
  // Hostile objects hold anything here; only an array of conditions says something.
  const conditions: readonly ({ type?: string } | null)[] = Array.isArray(status?.conditions)
    ? status.conditions
    : [];
  const decided = conditions.some((condition) => isDecision(condition?.type));
  return decided ? 'a decided request' : null;
}

/** Why an approval was wrong, as someone finds out who uses none of the policy's code. */
function approvalFault({ csr, reading }: RequestCase): string | null {
  if (reading.kind !== 'read') return 'an approval without a reading';
  const { identity } = reading;
  const user = `system:node:${identity.nodeName}`;
  if (csr.spec.username !== user) return 'an approval for another requester';
  const wrongObject = objectFault(csr);
  if (wrongObject !== null) return `an approval of ${wrongObject}`;
  const seen = seenByPkijs(csr);
  const subject = seen.subject.map(([type, value]) => `${type}=${value}`).sort();
  if (subject.join() !== [`2.5.4.10=system:nodes`, `2.5.4.3=${user}`].sort().join()) {
    return `an approval of the subject ${subject.join()}`;
  }
  if (seen.otherEntries > 0 || seen.names.length === 0) return 'an approval of other SAN entries';
  const foreign = seen.names.find((name) => !mayBeCertified(name, identity));
  return foreign === undefined ? null : `an approval of ${foreign.kind} ${foreign.value}`;
}

/** Laws of a decision function that reads real, signed bytes. */
export function hostileLaws(decide: Decide): readonly DecisionLaw[] {
  const judged = ({ csr, reading, options }: RequestCase) => decide(csr, reading, options);
  const total = (request: RequestCase) => {
    const decision = judged(request);
    const strange = reasonsOf(decision).find((reason) => !knownReasons.has(reason));
    if (strange !== undefined) broken(decision, 'known reasons only');
    const wrong = decision.kind === 'approve' ? approvalFault(request) : null;
    if (wrong !== null) broken(decision, `not ${wrong}`);
    return undefined;
  };

  return [
    law(
      'whatever is approved is the requester’s own, as another parser and another model see it',
      { weight: 20, leastApplied: 0.25 },
      fc.oneof(
        { weight: 4, arbitrary: honestRequests() },
        { weight: 3, arbitrary: nearMisses() },
        { weight: 3, arbitrary: resignedRequests() },
      ),
      (request) => {
        const decision = judged(request);
        if (decision.kind !== 'approve') return 'idle';
        const wrong = approvalFault(request);
        if (wrong !== null) broken(decision, `not ${wrong}`);
        return undefined;
      },
    ),
    law('any bytes give a decision', { weight: 15 }, hostileRequests(), total),
    law('any object gives a decision', { weight: 8 }, hostileObjects(), total),
    law(
      'any reading gives a decision, and an approval only of what it lists',
      { weight: 8 },
      honestRequests().chain((request) =>
        hostileReadings(request.identity).map((reading) => ({ ...request, reading })),
      ),
      (request) => {
        const decision = judged(request);
        if (decision.kind !== 'approve') return;
        const listed = JSON.stringify(request.reading).toLowerCase();
        const missing = decision.evidence.find(
          ({ kind, name }) => kind === 'dns' && !listed.includes(`"${foldedName(name)}`),
        );
        if (missing !== undefined) broken(decision, `${missing.name} in the reading`);
      },
    ),
    law(
      'the same inputs give the same decision and stay as they are',
      { weight: 5 },
      fc.oneof(honestRequests(), nearMisses(), hostileObjects()),
      (request) => {
        deepFreeze(request.csr);
        deepFreeze(request.reading);
        deepFreeze(request.options);
        const first = judged(request);
        if (JSON.stringify(first) !== JSON.stringify(judged(request))) {
          broken(first, 'the same decision twice');
        }
      },
    ),
  ];
}
