import type { CertificateSigningRequest } from '../csr/signing-request.ts';
import type { NodeIdentity } from '../identity/node-identity.ts';
import {
  certificationRequest,
  type Extension,
  extensionRequest,
  type RequestAttribute,
  type RequestParts,
  sanExtension,
} from './certification-request.ts';
import { nodeSubject, type Rdn } from './distinguished-name.ts';
import { dnsEntry, type GeneralName, ipEntry } from './general-name.ts';
import { type PemForm, pemText } from './pem-writer.ts';

/** A whole `certificates.k8s.io/v1` object, as an API client returns it. */
export interface SigningRequestObject extends CertificateSigningRequest {
  readonly apiVersion: 'certificates.k8s.io/v1';
  readonly kind: 'CertificateSigningRequest';
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string | Date | null;
  };
}

/**
 * What differs from the honest baseline. Everything is optional; a part that is given as bytes is
 * written as it is, and the last word has whatever is nearest to the wire: `request` over
 * `pemText` over `der` over the parts.
 */
export interface RequestChanges extends Partial<Omit<RequestParts, 'subject' | 'attributes'>> {
  /** Node that the baseline is about; user name, subject and SAN follow it. */
  readonly nodeName?: string;
  readonly subject?: readonly Rdn[] | Uint8Array;
  readonly san?: readonly GeneralName[];
  readonly sanCritical?: Extension['critical'];
  /** Replaces the SAN. */
  readonly extensions?: readonly Extension[];
  /** Replaces the one extensionRequest attribute. */
  readonly attributes?: readonly RequestAttribute[] | Uint8Array | null;
  readonly der?: Uint8Array;
  readonly pem?: PemForm;
  readonly pemText?: string;
  /** `spec.request` itself. */
  readonly request?: string;

  readonly name?: string;
  readonly uid?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string | Date;
  readonly signerName?: string;
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly usages?: readonly string[];
  /** Seconds; absent by default. */
  readonly expirationSeconds?: number;
  /** Types of the conditions in `status`. */
  readonly conditions?: readonly string[];
  /** `status.certificate`. */
  readonly certificate?: string;
  /** Fields written over `spec` at the end, of any type; `undefined` takes a field away. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** Node name of the baseline. */
export const baselineNodeName = 'worker-1';

/** SAN of the baseline: one name, one address of each family. */
export const baselineSan: readonly GeneralName[] = [
  dnsEntry(baselineNodeName),
  ipEntry('10.5.0.11'),
  ipEntry('fd00:5::11'),
];

function baselineSanOf(nodeName: string): readonly GeneralName[] {
  return [dnsEntry(nodeName), ...baselineSan.slice(1)];
}

/** The PKCS #10 request of these changes, as DER. */
export function buildRequestDer(changes: RequestChanges = {}): Uint8Array {
  if (changes.der !== undefined) return changes.der;
  const nodeName = changes.nodeName ?? baselineNodeName;
  const extensions = changes.extensions ?? [
    sanExtension(changes.san ?? baselineSanOf(nodeName), changes.sanCritical),
  ];
  return certificationRequest({
    ...changes,
    subject: changes.subject ?? nodeSubject(nodeName),
    attributes:
      changes.attributes === undefined ? [extensionRequest(extensions)] : changes.attributes,
  });
}

function requestField(changes: RequestChanges): string {
  if (changes.request !== undefined) return changes.request;
  const text = changes.pemText ?? pemText(buildRequestDer(changes), changes.pem);
  return Buffer.from(text, 'utf8').toString('base64');
}

function withoutUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/**
 * A CertificateSigningRequest: what a stock kubelet on `worker-1` sends, with these changes.
 * Keys are reused from a pool, so that a call costs little more than its signature.
 */
export function buildRequest(changes: RequestChanges = {}): SigningRequestObject {
  const nodeName = changes.nodeName ?? baselineNodeName;
  const { conditions, certificate } = changes;
  const status =
    conditions === undefined && certificate === undefined
      ? undefined
      : withoutUndefined({
          conditions: conditions?.map((type) => ({ type, status: 'True', reason: 'Test' })),
          certificate,
        });
  return withoutUndefined({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: withoutUndefined({
      name: changes.name ?? 'csr-built',
      uid: changes.uid ?? '6f1b2a52-93a1-4c0e-9a5b-7d6a2f9b1c11',
      creationTimestamp: changes.creationTimestamp ?? '2026-11-30T12:00:00Z',
      deletionTimestamp: changes.deletionTimestamp,
    }),
    spec: withoutUndefined({
      request: requestField(changes),
      signerName: changes.signerName ?? 'kubernetes.io/kubelet-serving',
      expirationSeconds: changes.expirationSeconds,
      usages: changes.usages ?? ['digital signature', 'server auth'],
      username: changes.username ?? `system:node:${nodeName}`,
      groups: changes.groups ?? ['system:nodes', 'system:authenticated'],
      ...changes.spec,
    }),
    status,
  }) as SigningRequestObject;
}

/**
 * What the kubelet of this machine would send if it asked for its node name and all the addresses
 * that Talos gives it.
 */
export function honestRequestFor(
  identity: NodeIdentity,
  changes: RequestChanges = {},
): SigningRequestObject {
  const addresses = identity.ipAddresses
    .filter(({ source }) => source === 'NodeIP')
    .map(({ value }) => ipEntry(value));
  return buildRequest({
    nodeName: identity.nodeName,
    san: [dnsEntry(identity.nodeName), ...addresses],
    ...changes,
  });
}
