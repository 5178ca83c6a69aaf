import * as asn1js from 'asn1js';
import { CertificationRequest, GeneralNames } from 'pkijs';
import type { CertificateSigningRequest } from '../../csr/signing-request.ts';
import type { NodeIdentity, SourcedValue } from '../../identity/node-identity.ts';
import { ipOctets } from '../ip-octets.ts';

/** A requested name in the form in which names are compared: folded text, or octets in hex. */
export interface SeenName {
  readonly kind: 'dns' | 'ip';
  readonly value: string;
}

/** What pkijs, which shares nothing with the policy's own parser, sees in a request. */
export interface SeenRequest {
  /** Type and text of every attribute of the subject. */
  readonly subject: readonly (readonly [string, string])[];
  readonly names: readonly SeenName[];
  /** Number of SAN entries that are neither a DNS name nor an address. */
  readonly otherEntries: number;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** DNS names are compared without case and without one final dot. */
export function foldedName(text: string): string {
  const lower = text.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

function hexOfAddress(text: string): string {
  return hex(ipOctets(text));
}

/** The entries of the one SAN, read by pkijs. */
function generalNamesIn(request: CertificationRequest): GeneralNames['names'] {
  const [attribute] = request.attributes ?? [];
  const extensions = attribute?.values[0] as asn1js.Sequence;
  const [extension] = extensions.valueBlock.value as asn1js.Sequence[];
  const value = extension?.valueBlock.value.at(-1) as asn1js.OctetString;
  const { result } = asn1js.fromBER(new Uint8Array(value.valueBlock.valueHexView));
  return new GeneralNames({ schema: result }).names;
}

/** Reads a request with pkijs, without the policy's own code. */
export function seenByPkijs(csr: CertificateSigningRequest): SeenRequest {
  const pem = Buffer.from(csr.spec.request ?? '', 'base64').toString('latin1');
  const base64 = pem.replaceAll(/-----[A-Z ]+-----/g, '');
  const request = CertificationRequest.fromBER(new Uint8Array(Buffer.from(base64, 'base64')));
  const names: SeenName[] = [];
  let otherEntries = 0;
  for (const { type, value } of generalNamesIn(request)) {
    if (type === 2) names.push({ kind: 'dns', value: foldedName(value) });
    else if (type === 7) names.push({ kind: 'ip', value: hex(value.valueBlock.valueHexView) });
    else otherEntries += 1;
  }
  return {
    subject: request.subject.typesAndValues.map(
      ({ type, value }) => [type, value.valueBlock.value] as const,
    ),
    names,
    otherEntries,
  };
}

function bitsOf(octets: string): string {
  return [...Buffer.from(octets, 'hex')]
    .map((octet) => octet.toString(2).padStart(8, '0'))
    .join('');
}

/** Whether an address, as octets in hex, is in a CIDR of its own family. */
export function isInSubnet(address: string, cidr: string): boolean {
  const [base = '', length = ''] = cidr.split('/');
  const baseHex = hexOfAddress(base);
  if (baseHex.length !== address.length) return false;
  return bitsOf(address).startsWith(bitsOf(baseHex).slice(0, Number(length)));
}

const mappedPrefix = '00000000000000000000ffff';

const everywhere = [
  '0.0.0.0/32',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
];

function isReservedName(name: string, identity: NodeIdentity): boolean {
  if (name === 'localhost' || name === 'kubernetes' || name.startsWith('kubernetes.')) return true;
  return identity.reserved.dnsNames.some((value) => foldedName(value) === name);
}

function isReservedAddress(octets: string, identity: NodeIdentity): boolean {
  const address = octets.startsWith(mappedPrefix) ? octets.slice(mappedPrefix.length) : octets;
  const { ipAddresses, subnets } = identity.reserved;
  return (
    ipAddresses.some((value) => hexOfAddress(value) === address) ||
    [...everywhere, ...subnets].some((subnet) => isInSubnet(address, subnet))
  );
}

const heldByAnother = ({ source }: SourcedValue) =>
  source === 'NodeIP' || source === 'Nodename' || source === 'HostnameStatus';

/**
 * Whether a name may be certified for a machine, said as plainly as it can be said: the machine
 * holds it, nobody else holds it by its operating system, and it is not reserved.
 */
export function mayBeCertified({ kind, value }: SeenName, identity: NodeIdentity): boolean {
  const field = kind === 'dns' ? 'dnsNames' : 'ipAddresses';
  const form = kind === 'dns' ? foldedName : hexOfAddress;
  const reserved = kind === 'dns' ? isReservedName : isReservedAddress;
  const isSame = (held: SourcedValue) => form(held.value) === value;
  if (reserved(value, identity)) return false;
  if (identity.others.some((other) => other[field].some((v) => isSame(v) && heldByAnother(v)))) {
    return false;
  }
  if (identity[field].some(isSame)) return true;
  return kind === 'ip' && identity.subnets.some((subnet) => isInSubnet(value, subnet.value));
}
