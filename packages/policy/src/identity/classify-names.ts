import type { Octets } from '../octets.ts';
import type { SanEntry } from '../parsed-csr.ts';
import { quote } from '../quote.ts';
import type { DenyReason } from '../rules/reasons.ts';
import { contains } from './cidr.ts';
import { foldDnsName } from './dns-name.ts';
import { type Holders, nobody, rankOf } from './holders.ts';
import { addressOf, formatIpAddress, unmapAddress } from './ip-address.ts';
import type { Source } from './node-identity.ts';
import type { PreparedIdentity } from './prepare-identity.ts';
import { isReservedAddress, isReservedName } from './reserved.ts';

/** Deny reasons that come from comparing a name with an identity. */
export type NameReason = Extract<
  DenyReason,
  'NameReserved' | 'NameOfAnotherMachine' | 'DnsNameNotOfNode' | 'IpAddressNotOfNode'
>;

/** One name that is not the node's own. */
export interface NameFinding {
  readonly kind: 'dns' | 'ip';
  /** The name in a form that is safe to print. */
  readonly name: string;
  readonly code: NameReason;
  /** Machines that hold the name, if `code` is `NameOfAnotherMachine`. */
  readonly machines: readonly string[];
}

/** What one name is to a node. */
export type Standing =
  | { readonly kind: 'own'; readonly source: Source }
  | { readonly kind: 'reserved' | 'unknown' }
  | { readonly kind: 'others'; readonly machines: readonly string[] };

/** What a DNS name is to a node; the most specific answer only. */
export function standingOfName(identity: PreparedIdentity, name: string): Standing {
  const folded = foldDnsName(name);
  if (isReservedName(identity.reserved, folded)) return { kind: 'reserved' };
  return standingAmongMachines(
    identity.dns.get(folded) ?? [],
    identity.others.dns.get(folded) ?? nobody,
  );
}

/** What an address is to a node; the most specific answer only. */
export function standingOfAddress(identity: PreparedIdentity, address: Octets): Standing {
  if (isReservedAddress(identity.reserved, address)) return { kind: 'reserved' };
  // Own addresses are compared as they are: an IPv4-mapped address is never an IPv4 address.
  const standing = standingAmongMachines(
    identity.ip.get(address) ?? [],
    identity.others.ip.get(unmapAddress(address)) ?? nobody,
  );
  const isConfigured =
    standing.kind === 'unknown' && identity.subnets.some((range) => contains(range, address));
  return isConfigured ? { kind: 'own', source: 'Configured' } : standing;
}

function standingAmongMachines(own: readonly Source[], holders: Holders): Standing {
  const source = own.find((candidate) => isEvidence(candidate, holders));
  if (source !== undefined) return { kind: 'own', source };
  if (holders.byNode.length > 0) return { kind: 'others', machines: holders.byNode };
  // What the platform says of two machines, such as the address of a gateway, is nobody's.
  const isShared =
    holders.byPlatform.length !== 1 || own.some((other) => rankOf(other) === 'platform');
  return isShared ? { kind: 'unknown' } : { kind: 'others', machines: holders.byPlatform };
}

function isEvidence(source: Source, holders: Holders): boolean {
  switch (rankOf(source)) {
    case 'node':
      return true;
    case 'platform':
      return holders.byNode.length === 0 && holders.byPlatform.length === 0;
    case 'configured':
      return holders.byNode.length === 0;
    default:
      return false;
  }
}

/** One SAN entry with what it is to the node; entries of other types have no standing. */
export interface ClassifiedName {
  readonly kind: 'dns' | 'ip';
  readonly name: string;
  readonly standing: Standing;
}

/** Compares every DNS name and address of a SAN with an identity. */
export function classifyNames(
  identity: PreparedIdentity,
  san: readonly SanEntry[],
): readonly ClassifiedName[] {
  return san.flatMap((entry) => classifyName(identity, entry) ?? []);
}

function classifyName(identity: PreparedIdentity, entry: SanEntry): ClassifiedName | undefined {
  switch (entry.kind) {
    case 'dns':
      return { kind: 'dns', name: entry.name, standing: standingOfName(identity, entry.name) };
    case 'ip': {
      const address = addressOf(entry.octets);
      const standing = standingOfAddress(identity, address);
      return { kind: 'ip', name: formatIpAddress(address), standing };
    }
    case 'other':
      return undefined;
  }
}

/** The finding about a name that is not the node's own; undefined if it is. */
export function findingOf({ kind, name, standing }: ClassifiedName): NameFinding | undefined {
  const printable = kind === 'dns' ? quote(name) : name;
  switch (standing.kind) {
    case 'own':
      return undefined;
    case 'reserved':
      return { kind, name: printable, code: 'NameReserved', machines: [] };
    case 'others':
      return { kind, name: printable, code: 'NameOfAnotherMachine', machines: standing.machines };
    case 'unknown': {
      const code = kind === 'dns' ? 'DnsNameNotOfNode' : 'IpAddressNotOfNode';
      return { kind, name: printable, code, machines: [] };
    }
  }
}
