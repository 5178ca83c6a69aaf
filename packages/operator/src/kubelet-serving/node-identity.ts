import type { TalosCluster, TalosMachine } from '@ichor/k8s-adapter';
import type {
  NodeIdentity,
  OtherMachine,
  PolicyOptions,
  ReservedNames,
  SourcedValue,
} from '@ichor/policy';
import type { MachineFacts } from './machine-facts.ts';
import { canonicalAddress, canonicalHost } from './name-text.ts';

/** A machine of the cluster and what it said when it was last read, if it ever was. */
export interface KnownMachine {
  readonly machine: TalosMachine;
  readonly facts: MachineFacts | undefined;
}

/** What is reserved in a cluster, or why that is not known yet. */
export type ReservedReading =
  | { readonly kind: 'known'; readonly reserved: ReservedNames }
  | { readonly kind: 'unknown'; readonly cause: string; readonly unreadControlPlanes: boolean };

/**
 * Collects what no node of the cluster may be certified for: `spec.reserved`, the host of the
 * control-plane endpoint, and what the control planes exclude from node addresses (pod and service
 * ranges, VIPs). Only control planes are asked, never the requester as such.
 *
 * A host that is the `spec.address` or `spec.hostname` of a control-plane machine is that
 * machine's own: the usual single control plane.
 *
 * @param server URL of the API server, used where the cluster states no endpoint
 */
export function reservedIn(
  cluster: TalosCluster,
  machines: readonly KnownMachine[],
  server: string,
): ReservedReading {
  const controlPlanes = machines.filter(({ machine }) => isControlPlane(machine));
  const configured = cluster.spec.reserved;
  if (controlPlanes.length === 0 && configured.subnets.length === 0) {
    return {
      kind: 'unknown',
      cause:
        'the cluster has no control-plane TalosMachine to read the reserved ranges from; add one, or set spec.reserved.subnets',
      unreadControlPlanes: false,
    };
  }
  const excluded = controlPlanes.flatMap(({ facts }) => facts?.reserved ?? []);
  const anyRead = controlPlanes.some(({ facts }) => facts?.reserved !== undefined);
  if (controlPlanes.length > 0 && !anyRead) {
    return {
      kind: 'unknown',
      cause:
        'no control plane of the cluster has been read yet, so its reserved ranges are unknown',
      unreadControlPlanes: true,
    };
  }
  const dnsNames = [...configured.dnsNames];
  const ipAddresses = [...configured.ipAddresses];
  const subnets = [...configured.subnets];
  for (const entry of excluded) (entry.includes('/') ? subnets : ipAddresses).push(entry);
  const host = endpointHost(cluster, server);
  if (host !== undefined && !controlPlanes.some(({ machine }) => inventoryHas(machine, host))) {
    (canonicalAddress(host) === undefined ? dnsNames : ipAddresses).push(host);
  }
  return { kind: 'known', reserved: { dnsNames, ipAddresses, subnets } };
}

/** Host of the control-plane endpoint, else of the API server; undefined where neither is a URL. */
export function endpointHost(cluster: TalosCluster, server: string): string | undefined {
  const url = cluster.spec.kubernetes.endpoint ?? server;
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname === '' ? undefined : hostname.replace(/^\[|\]$/g, '');
}

/** What decides about a request besides the request: the identity, and options that go with it. */
export interface Judgement {
  readonly identity: NodeIdentity;
  readonly options: PolicyOptions;
  /** True where the additional subnets are left out, because some machine has never been read. */
  readonly subnetsWithheld: boolean;
}

/**
 * Puts together what the policy must know about one machine.
 *
 * While some machine has never been read, the additional subnets are left out, because one of
 * their addresses may be that machine's; an address in them is then nobody's for now, and the
 * request waits instead of being denied.
 */
export function identityOf(
  target: TalosMachine,
  facts: MachineFacts,
  cluster: TalosCluster,
  machines: readonly KnownMachine[],
  reserved: ReservedNames,
): Judgement {
  const options = cluster.spec.servingCertificates;
  const allRead = machines.every((known) => known.facts !== undefined);
  const withheld = !allRead && options.extraSubnets.length > 0;
  const configured = (value: string): SourcedValue => ({ value, source: 'Configured' });
  return {
    identity: {
      nodeName: facts.nodeName ?? '',
      dnsNames: [...facts.dnsNames, ...options.extraDNSNames.map(configured)],
      ipAddresses: facts.ipAddresses,
      subnets: allRead ? options.extraSubnets.map(configured) : [],
      reserved,
      others: othersOf(target, machines),
    },
    options: {
      unknownNames: withheld || options.unknownNames === 'Pending' ? 'pending' : 'deny',
      ...(options.maxExpirationSeconds === undefined
        ? {}
        : { maxExpirationSeconds: options.maxExpirationSeconds }),
    },
    subnetsWithheld: withheld,
  };
}

/**
 * What the other machines hold: what each said when last read, and what the inventory gives it.
 *
 * What the inventory gives to the target alone is the target's: another machine's report of it, and
 * of the name that its domain makes of it, is left out here, so that a node which lies cannot stop
 * the honest one. When the liar is judged, the same value stands among *its* others and conflicts.
 */
export function othersOf(
  target: TalosMachine,
  machines: readonly KnownMachine[],
): readonly OtherMachine[] {
  const others = machines.filter(({ machine }) => machine.uid !== target.uid);
  const own = new Set(
    inventoryHosts(target).filter(
      (host) => !others.some(({ machine }) => inventoryHosts(machine).includes(host)),
    ),
  );
  const reported = (values: readonly SourcedValue[]) => {
    // A node with its host name from the target says host.domain of it, too.
    const taken = values
      .filter(isHostname)
      .map(hostIn)
      .filter((host) => own.has(host));
    return values.filter((value) => {
      const host = hostIn(value);
      const isQualified = isHostname(value) && taken.some((name) => host.startsWith(`${name}.`));
      return !own.has(host) && !isQualified;
    });
  };
  return others.map(({ machine, facts }) => {
    const dnsNames = [...reported(facts?.dnsNames ?? [])];
    const ipAddresses = [...reported(facts?.ipAddresses ?? [])];
    const { address, hostname } = machine.spec;
    if (canonicalAddress(address) === undefined) {
      dnsNames.push({ value: address, source: 'HostnameStatus' });
    } else ipAddresses.push({ value: address, source: 'NodeIP' });
    if (hostname !== undefined) dnsNames.push({ value: hostname, source: 'HostnameStatus' });
    return { machine: machine.name, dnsNames, ipAddresses };
  });
}

function isHostname({ source }: SourcedValue): boolean {
  return source === 'HostnameStatus';
}

/** True for a control-plane machine. */
export function isControlPlane(machine: TalosMachine): boolean {
  return machine.spec.machineType === 'controlplane';
}

// Every decision compares what all machines hold; objects of the inventory and readings never change.
const hostsOfMachine = new WeakMap<TalosMachine, readonly string[]>();
const hostOfValue = new WeakMap<SourcedValue, string>();

function inventoryHosts(machine: TalosMachine): readonly string[] {
  const known = hostsOfMachine.get(machine);
  if (known !== undefined) return known;
  const { address, hostname } = machine.spec;
  const hosts = [address, ...(hostname === undefined ? [] : [hostname])].map(canonicalHost);
  hostsOfMachine.set(machine, hosts);
  return hosts;
}

function hostIn(value: SourcedValue): string {
  const known = hostOfValue.get(value);
  if (known !== undefined) return known;
  const host = canonicalHost(value.value);
  hostOfValue.set(value, host);
  return host;
}

function inventoryHas(machine: TalosMachine, host: string): boolean {
  return inventoryHosts(machine).includes(canonicalHost(host));
}
