import type { ReceivedRequest, ServingCertificateRecord, TalosMachine } from '@ichor/k8s-adapter';
import {
  foldDnsName,
  type IssuedCertificate,
  identityConflicts,
  type NodeIdentity,
  nodeNameOf,
  parseCsr,
  readIssuedCertificate,
  violationsOfNames,
} from '@ichor/policy';
import { rfc3339 } from '../runtime/rfc3339.ts';
import type { Judgement } from './node-identity.ts';

/** What an issued request is worth. */
export type IssuedOutcome =
  /** The certificate is the machine's. `unverified` names are nobody's and were let through by hand. */
  | {
      readonly kind: 'record';
      readonly record: ServingCertificateRecord;
      readonly unverified: readonly string[];
    }
  /** It names what is not the machine's: it never counts. */
  | { readonly kind: 'outside'; readonly issuedAt: number; readonly detail: string }
  /** It is not one that can be held against a machine; the sentence is for the log. */
  | { readonly kind: 'unusable'; readonly detail: string };

/**
 * Judges the certificate of a request that the machine's own user made.
 *
 * It is recorded where its key is the request's, its subject is the machine's and its names are
 * within the identity, whoever approved it. Reserved names and those of other machines are
 * foreign, also where the node reports them itself; a name that is nobody's is foreign, too,
 * unless the cluster leaves such requests to a person.
 */
export function planRecord(
  request: ReceivedRequest,
  machine: TalosMachine,
  { identity, options, subnetsWithheld }: Judgement,
): IssuedOutcome {
  const unusable = (detail: string): IssuedOutcome => ({ kind: 'unusable', detail });
  const nodeName = nodeNameOf(request.csr.spec.username ?? '');
  if (nodeName === undefined || nodeName !== identity.nodeName) {
    return unusable(`the request was not made by the own user of machine ${machine.name}`);
  }
  const certificate = readIssuedCertificate(request.csr.status?.certificate ?? '');
  if (certificate.kind !== 'certificate') return unusable(certificate.problem);
  const parsed = parseCsr(request.csr.spec.request ?? '');
  if (parsed.kind !== 'parsed' || !sameBytes(parsed.signed.spki, certificate.spki)) {
    return unusable('the certificate does not hold the key of its request');
  }
  if (certificate.nodeName !== nodeName) {
    return unusable('the subject of the certificate is not the node');
  }
  if (certificate.otherNames > 0) {
    return {
      kind: 'outside',
      issuedAt: certificate.notBefore,
      detail: 'SanTypeNotPermitted: it holds names that are neither DNS names nor addresses.',
    };
  }
  const violations = violationsOfNames(identity, certificate);
  const foreign = violations.filter(
    ({ code }) =>
      options.unknownNames !== 'pending' ||
      (code !== 'DnsNameNotOfNode' && code !== 'IpAddressNotOfNode'),
  );
  const said = foreign.map(({ code, detail }) => `${code}: ${detail}`);
  said.push(...contested(identity, certificate));
  if (said.length > 0) {
    return { kind: 'outside', issuedAt: certificate.notBefore, detail: said.join('; ') };
  }
  if (subnetsWithheld && violations.length > 0) {
    // The names may be of a subnet that is left out for now: neither the machine's nor foreign yet.
    return unusable('a name of it can be judged only once every machine of the cluster was read');
  }
  return {
    kind: 'record',
    record: {
      request: request.name,
      issuedAt: rfc3339(certificate.notBefore),
      notAfter: rfc3339(certificate.notAfter),
      dnsNames: certificate.dnsNames,
      ipAddresses: certificate.ipAddresses,
      fingerprint: certificate.fingerprint,
      adopted: false,
    },
    unverified: violations.map(({ detail }) => detail),
  };
}

/**
 * Names of a certificate that its node and another machine both say are theirs: as with a request,
 * the node's word alone does not settle whose they are.
 */
function contested(identity: NodeIdentity, certificate: IssuedCertificate): readonly string[] {
  const names = new Set([...certificate.dnsNames.map(foldDnsName), ...certificate.ipAddresses]);
  return identityConflicts(identity)
    .filter(({ value }) => names.has(value))
    .map(
      ({ value, machines }) =>
        `NameOfAnotherMachine: ${value} is also what ${machines.join(', ')} has.`,
    );
}

/** True where a record is newer than the one that is kept, if any. */
export function supersedes(
  record: ServingCertificateRecord,
  kept: ServingCertificateRecord | undefined,
): boolean {
  if (kept === undefined) return true;
  if (kept.fingerprint === record.fingerprint) return false;
  return Date.parse(record.issuedAt) >= Date.parse(kept.issuedAt);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
