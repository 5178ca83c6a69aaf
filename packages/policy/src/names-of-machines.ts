import type { Decision, PolicyOptions, Violation } from './decision.ts';
import {
  type ClassifiedName,
  findingOf,
  type NameFinding,
  standingOfAddress,
  standingOfName,
} from './identity/classify-names.ts';
import { conflictsOf, type IdentityConflict } from './identity/identity-conflict.ts';
import { formatIpAddress, parseIpAddress } from './identity/ip-address.ts';
import type { NodeIdentity } from './identity/node-identity.ts';
import { type PreparedIdentity, prepareIdentity } from './identity/prepare-identity.ts';
import { quote, quoteMachines } from './quote.ts';

/** DNS names and IP addresses as text, such as an issued certificate holds them. */
export interface NamesAsText {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** What is wrong with one name, for the node whose identity it was compared with. */
export interface NameViolation extends Violation {
  readonly kind: 'dns' | 'ip';
  /** The name as it was given. */
  readonly name: string;
}

/**
 * Compares names with an identity as a decision does, one violation for each name that is not the
 * node's own. With `unknownNames: 'pending'` names that nobody holds are left out, because such a
 * cluster lets a person approve them; ask without the option to have them named, too. An identity
 * that cannot be relied on vouches for no name: then every name is a violation.
 */
export function violationsOfNames(
  identity: NodeIdentity,
  names: NamesAsText,
  options: PolicyOptions = {},
): readonly NameViolation[] {
  const preparation = prepareIdentity(identity);
  const prepared = preparation.kind === 'prepared' ? preparation.identity : undefined;
  const violations = [
    ...names.dnsNames.map((name) => violationOfName('dns', name, prepared)),
    ...names.ipAddresses.map((name) => violationOfName('ip', name, prepared)),
  ];
  return violations.filter(
    (violation) =>
      violation !== undefined &&
      !(options.unknownNames === 'pending' && isAboutUnknownName(violation)),
  ) as readonly NameViolation[];
}

const isAboutUnknownName = ({ code }: Violation): boolean =>
  code === 'DnsNameNotOfNode' || code === 'IpAddressNotOfNode';

function violationOfName(
  kind: 'dns' | 'ip',
  name: string,
  identity: PreparedIdentity | undefined,
): NameViolation | undefined {
  const finding = findingOf(classifyText(kind, name, identity));
  return finding && { kind, name, ...violationOfFinding(finding) };
}

function classifyText(
  kind: 'dns' | 'ip',
  name: string,
  identity: PreparedIdentity | undefined,
): ClassifiedName {
  const unknown: ClassifiedName = { kind, name: printable(name), standing: { kind: 'unknown' } };
  if (identity === undefined) return unknown;
  if (kind === 'dns') return { kind, name, standing: standingOfName(identity, name) };
  const address = parseIpAddress(name);
  if (address === undefined) return unknown;
  return { kind, name: formatIpAddress(address), standing: standingOfAddress(identity, address) };
}

const printable = (name: string): string => quote(name).slice(1, -1);

function violationOfFinding({ code, name, machines }: NameFinding): Violation {
  switch (code) {
    case 'NameReserved':
      return { code, detail: `${name} is reserved.` };
    case 'NameOfAnotherMachine':
      return { code, detail: `${name} belongs to ${quoteMachines(machines)}.`, machines };
    case 'DnsNameNotOfNode':
      return { code, detail: `${name} is not a name of the node.` };
    case 'IpAddressNotOfNode':
      return { code, detail: `${name} is not an address of the node.` };
  }
}

/**
 * Every value that this machine and another one report as their own, whether a request asks for it
 * or not. Empty for an identity that cannot be relied on: nothing is decided on it anyway.
 */
export function identityConflicts(identity: NodeIdentity): readonly IdentityConflict[] {
  const preparation = prepareIdentity(identity);
  return preparation.kind === 'prepared' ? conflictsOf(preparation.identity) : [];
}

/**
 * The other machines on whose word a decision rests, or that hold one of some names: those to read
 * again before a denial for `NameOfAnotherMachine` or a wait for `IdentityConflict` is told.
 */
export function othersHolding(
  identity: NodeIdentity,
  subject: Decision | NamesAsText,
): readonly string[] {
  if (!('kind' in subject)) {
    const held = violationsOfNames(identity, subject).flatMap(({ machines }) => machines ?? []);
    const rivals = identityConflicts(identity).flatMap(({ machines }) => machines);
    return [...new Set([...held, ...rivals])];
  }
  switch (subject.kind) {
    case 'deny':
      return [...new Set(subject.violations.flatMap(({ machines }) => machines ?? []))];
    case 'pending':
      return subject.machines ?? [];
    case 'approve':
      return [];
  }
}
