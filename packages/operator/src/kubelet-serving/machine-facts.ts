import type { MachineIdentity, TalosMachine } from '@ichor/k8s-adapter';
import { parseCidr, type SourcedValue } from '@ichor/policy';
import type { NodeFacts } from '@ichor/talos-client';
import { rfc3339 } from '../runtime/rfc3339.ts';

/** What a machine said when it was last read, in the words of the policy. */
export interface MachineFacts {
  /** `Nodename`; undefined where only an older status is known that does not hold it. */
  readonly nodeName: string | undefined;
  readonly dnsNames: readonly SourcedValue[];
  readonly ipAddresses: readonly SourcedValue[];
  /** What a control plane excludes from node addresses; undefined for a worker. */
  readonly reserved: readonly string[] | undefined;
  /** Milliseconds since the epoch. */
  readonly observedAt: number;
}

/** Facts, or why what the node said cannot be used. */
export type FactsOrProblem =
  | { readonly kind: 'facts'; readonly facts: MachineFacts }
  | { readonly kind: 'unusable'; readonly cause: string };

/**
 * Turns what Talos said into sourced names.
 *
 * `HostnameStatus` gives the host name and, where there is a domain, host.domain. An entry of
 * `NodeIPConfig.excludeSubnets` that is neither a CIDR nor an address makes the whole reading
 * unusable: a range that we cannot understand must not be treated as free.
 */
export function factsOf(said: NodeFacts, observedAt: number): FactsOrProblem {
  for (const entry of said.excludeSubnets ?? []) {
    if (parseCidr(entry) === undefined) {
      return {
        kind: 'unusable',
        cause: `NodeIPConfig excludes ${JSON.stringify(entry)}, which is neither an address nor a CIDR`,
      };
    }
  }
  const dnsNames: SourcedValue[] = [{ value: said.nodeName, source: 'Nodename' }];
  if (said.hostname !== '') {
    dnsNames.push({ value: said.hostname, source: 'HostnameStatus' });
    if (said.domainname !== '') {
      dnsNames.push({ value: `${said.hostname}.${said.domainname}`, source: 'HostnameStatus' });
    }
  }
  for (const value of said.platformNames) dnsNames.push({ value, source: 'PlatformMetadata' });
  return {
    kind: 'facts',
    facts: {
      nodeName: said.nodeName,
      dnsNames,
      ipAddresses: [
        ...said.nodeIps.map((value): SourcedValue => ({ value, source: 'NodeIP' })),
        ...said.externalAddresses.map(
          (value): SourcedValue => ({ value, source: 'ExternalAddress' }),
        ),
      ],
      reserved: said.excludeSubnets,
      observedAt,
    },
  };
}

/** The facts that a machine's status has kept from an earlier reading. */
export function factsFromStatus(machine: TalosMachine): MachineFacts | undefined {
  const { identity, nodeName } = machine.status;
  if (identity === undefined) return undefined;
  const observedAt = Date.parse(identity.observedAt);
  return {
    nodeName,
    dnsNames: sourced(identity.dnsNames),
    ipAddresses: sourced(identity.ipAddresses),
    reserved: identity.reserved,
    observedAt: Number.isNaN(observedAt) ? 0 : observedAt,
  };
}

/** The form in which facts are kept in a machine's status. */
export function identityStatusOf(facts: MachineFacts): MachineIdentity {
  return {
    observedAt: rfc3339(facts.observedAt),
    dnsNames: facts.dnsNames,
    ipAddresses: facts.ipAddresses,
    reserved: facts.reserved,
  };
}

/** True where two readings say the same, whenever they were made. */
export function sameFacts(a: MachineFacts, b: MachineFacts): boolean {
  return spelled(a) === spelled(b);
}

function spelled({ nodeName, dnsNames, ipAddresses, reserved }: MachineFacts): string {
  const pairs = (values: readonly SourcedValue[]) => values.map((v) => [v.value, v.source]);
  return JSON.stringify([nodeName, pairs(dnsNames), pairs(ipAddresses), reserved ?? null]);
}

const kept = new Set([
  'NodeIP',
  'Nodename',
  'HostnameStatus',
  'ExternalAddress',
  'PlatformMetadata',
] as const);

function sourced(values: MachineIdentity['dnsNames']): SourcedValue[] {
  return values.filter((v): v is SourcedValue => (kept as ReadonlySet<string>).has(v.source));
}
