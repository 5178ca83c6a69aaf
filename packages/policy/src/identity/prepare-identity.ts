import type { Octets } from '../octets.ts';
import { quote } from '../quote.ts';
import { type Cidr, parseCidr } from './cidr.ts';
import { foldDnsName } from './dns-name.ts';
import { addHolder, type HolderIndex, rankOf } from './holders.ts';
import { parseIpAddress, unmapAddress } from './ip-address.ts';
import type { Source } from './node-identity.ts';
import { prepareReserved, type Reserved } from './reserved.ts';

/** An identity ready for comparing: names folded, addresses as octets, the others indexed. */
export interface PreparedIdentity {
  readonly nodeName: string;
  /** Sources of each own name, the strongest first. */
  readonly dns: ReadonlyMap<string, readonly Source[]>;
  readonly ip: ReadonlyMap<Octets, readonly Source[]>;
  readonly subnets: readonly Cidr[];
  readonly reserved: Reserved;
  readonly others: HolderIndex;
}

/** The prepared identity, or a sentence that says why it cannot be relied on. */
export type Preparation =
  | { readonly kind: 'prepared'; readonly identity: PreparedIdentity }
  | { readonly kind: 'unusable'; readonly cause: string };

/**
 * Prepares an identity, whatever it holds. Own values that cannot be read are no evidence. The
 * lists that refuse names (`reserved`, `others`) must be lists, and every reserved entry must be
 * readable, else the identity is unusable; an odd value of another machine is ignored, because one
 * node must not be able to stop the others.
 */
export function prepareIdentity(identity: unknown): Preparation {
  if (!isRecord(identity)) return unusable('it is not an object');
  const nodeName = identity['nodeName'];
  if (typeof nodeName !== 'string') return unusable('it has no node name');
  const reserved = readReserved(identity['reserved']);
  if ('problem' in reserved) return unusable(reserved.problem);
  const others = indexOthers(identity['others']);
  if (others === undefined) return unusable('the list of other machines is not readable');
  const dns = collectOwn(identity['dnsNames'], (value) => foldDnsName(value) || undefined);
  const ip = collectOwn(identity['ipAddresses'], parseIpAddress);
  if (!dns.some(isReadFromNode)) return unusable('it has no DNS name');
  if (!ip.some(isReadFromNode)) return unusable('it has no address');
  const subnets = sourcedValuesOf(identity['subnets'])
    .filter(({ source }) => rankOf(source) === 'configured')
    .flatMap(({ value }) => parseCidr(value) ?? []);
  return {
    kind: 'prepared',
    identity: { nodeName, dns: bySource(dns), ip: bySource(ip), subnets, reserved, others },
  };
}

const unusable = (reason: string): Preparation => ({
  kind: 'unusable',
  cause: `The reading of the node is unusable: ${reason}.`,
});

/** What an administrator configured was not read from the node. */
const isReadFromNode = ({ source }: OwnValue): boolean => rankOf(source) !== 'configured';

interface OwnValue {
  readonly key: string;
  readonly source: Source;
}

function collectOwn(values: unknown, keyOf: (value: string) => string | undefined): OwnValue[] {
  const own: OwnValue[] = [];
  for (const { value, source } of sourcedValuesOf(values)) {
    if (!isSource(source)) continue;
    const key = keyOf(value);
    if (key !== undefined) own.push({ key, source });
  }
  return own;
}

const strength: { readonly [source in Source]: number } = {
  NodeIP: 0,
  Nodename: 1,
  HostnameStatus: 2,
  ExternalAddress: 3,
  PlatformMetadata: 4,
  Configured: 5,
};

const isSource = (source: string): source is Source => Object.hasOwn(strength, source);

function bySource(values: readonly OwnValue[]): Map<string, Source[]> {
  const index = new Map<string, Source[]>();
  for (const { key, source } of values) {
    const sources = index.get(key);
    if (sources === undefined) index.set(key, [source]);
    else if (!sources.includes(source)) sources.push(source);
  }
  for (const sources of index.values()) {
    if (sources.length > 1) sources.sort((left, right) => strength[left] - strength[right]);
  }
  return index;
}

function readReserved(reserved: unknown): Reserved | { readonly problem: string } {
  if (!isRecord(reserved)) return { problem: 'its reserved names are missing' };
  const dnsNames = stringsOf(reserved['dnsNames']);
  const ipAddresses = stringsOf(reserved['ipAddresses']);
  const subnets = stringsOf(reserved['subnets']);
  if (!dnsNames || !ipAddresses || !subnets) {
    return { problem: 'its reserved names are not lists of texts' };
  }
  const prepared = prepareReserved(dnsNames, [...ipAddresses, ...subnets]);
  return 'problem' in prepared
    ? { problem: `the reserved entry ${quote(prepared.problem)} is no name, address or CIDR` }
    : prepared;
}

function indexOthers(others: unknown): HolderIndex | undefined {
  if (!Array.isArray(others)) return undefined;
  const dns = new Map<string, { byNode: string[]; byPlatform: string[] }>();
  const ip = new Map<string, { byNode: string[]; byPlatform: string[] }>();
  for (const other of others as readonly unknown[]) {
    if (!isRecord(other) || typeof other['machine'] !== 'string') return undefined;
    if (!Array.isArray(other['dnsNames']) || !Array.isArray(other['ipAddresses'])) return undefined;
    for (const { value, source } of sourcedValuesOf(other['dnsNames'])) {
      addHolder(dns, foldDnsName(value), other['machine'], source);
    }
    for (const { value, source } of sourcedValuesOf(other['ipAddresses'])) {
      const address = parseIpAddress(value);
      if (address !== undefined) addHolder(ip, unmapAddress(address), other['machine'], source);
    }
  }
  return { dns, ip };
}

function sourcedValuesOf(values: unknown): { value: string; source: string }[] {
  const sourced: { value: string; source: string }[] = [];
  if (!Array.isArray(values)) return sourced;
  for (const entry of values as readonly unknown[]) {
    if (!isRecord(entry)) continue;
    const { value, source } = entry;
    if (typeof value === 'string' && typeof source === 'string') sourced.push({ value, source });
  }
  return sourced;
}

function stringsOf(values: unknown): readonly string[] | undefined {
  return Array.isArray(values) && values.every((value) => typeof value === 'string')
    ? values
    : undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
