import { isIP } from 'node:net';
import { type KubeObject, kubeletServingSigner, type TalosCluster } from '@ichor/k8s-adapter';
import { formatIpAddress, nodeNameOf, parseCidr, parseIpAddress } from '@ichor/policy';
import type { PhysicalMachine } from './physical-machine.ts';
import type { RequestOrigin, SimulatedWorld } from './simulated-world.ts';
import { excludedIn } from './world-plan.ts';

/**
 * Milliseconds between a moment at which all names were the machine's and the approval: a reading
 * counts for ten seconds, may have taken five, other machines may be read for five more, and what
 * it rests on has to be stored first, by calls that take up to two seconds each.
 */
export const freshnessMs = 10_000 + 5_000 + 5_000 + 2 * 2_000;
/** Watches are at most so far behind, in milliseconds, with the time to act on what they show. */
export const longestLagMs = 40_000;
/** A denial is held against the operator only where the truth is older than this, in milliseconds. */
const settledMs = 20_000;

/** A write of the operator that has just taken effect. */
export interface WrittenDecision {
  /** Name of the TalosCluster for which it was written. */
  readonly cluster: string;
  readonly kubernetes: number;
  /** The request as it was stored before. */
  readonly before: KubeObject;
  readonly type: 'Approved' | 'Denied';
  readonly reason: string;
  readonly message: string;
  /** When the call was made, in milliseconds since the epoch. */
  readonly calledAt: number;
  /** What the operator has seen of the cluster within the time that counts. */
  readonly seenClusters: readonly TalosCluster[];
  /** Since when another connection of this process is known to lead to the same API server. */
  readonly sharedSince: number | undefined;
  /** True where the process died while the call was on the wire: it could not take it back. */
  readonly processDied: boolean;
}

/** Holds everything that the operator writes against what is true. */
export class SafetyMonitor {
  readonly violations: string[] = [];
  /** The longest time between a true moment and the approval that rested on it, in milliseconds. */
  stalestApproval = 0;
  readonly outcomes = new Map<string, number>();
  readonly #world: SimulatedWorld;
  readonly #written = new Set<string>();
  readonly #records = new Set<string>();

  constructor(world: SimulatedWorld) {
    this.#world = world;
  }

  violated(rule: string, detail: string): void {
    const at = Math.round((this.#world.clock.now() - this.#world.startedAt) / 100) / 10;
    this.violations.push(`${rule}: ${detail} (at ${at} s)`);
    this.#world.say(`VIOLATION ${rule}: ${detail}`);
  }

  decisionWritten(written: WrittenDecision): void {
    const { before, type, reason, cluster, kubernetes } = written;
    const { name, uid } = before.metadata;
    const outcome = `${type} ${reason}`;
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    const spec = before['spec'] as { readonly signerName: string; readonly username: string };
    if (spec.signerName !== kubeletServingSigner) {
      this.violated('other-signer', `${name} of ${spec.signerName} was written to`);
    }
    if (this.#written.has(uid)) this.violated('decided-twice', `${name} was decided by us before`);
    this.#written.add(uid);
    const conditions = conditionsOf(before);
    if (conditions.length > 0) {
      this.violated('decided-twice', `${name} was ${conditions.join(', ')} already`);
    }
    if (!written.processDied) this.#checkSwitch(cluster, name);
    this.#checkSharing(written);
    const origin = this.#world.origins.get(uid);
    if (origin === undefined) this.violated('unknown-request', name);
    else if (type === 'Approved') this.#checkApproval(written, origin);
    else this.#checkDenial(written, origin, kubernetes);
  }

  /** A record was written, maybe not for the first time, into the status of a TalosMachine. */
  recordWritten(machine: string, fingerprint: string, names: readonly string[]): void {
    // What was the machine's when it was issued stays on record.
    if (this.#records.has(`${machine} ${fingerprint}`)) return;
    this.#records.add(`${machine} ${fingerprint}`);
    const owners = this.#world.ownersOf(machine);
    const [owner] = owners;
    if (owner === undefined) return;
    const { cluster } = owner.plan;
    const foreign = names.filter((name) => {
      if (this.#isReserved(name, cluster, [])) return true;
      if (owners.some((one) => one.everHeld(name))) return false;
      if (this.#world.wasExtra(cluster, name)) return false;
      if (this.#honestHolder(name, ...owners) !== undefined) return true;
      return (
        owners.every(({ plan }) => plan.conduct !== 'lying') && !this.#world.wasPending(cluster)
      );
    });
    if (foreign.length > 0) {
      this.violated('foreign-record', `${machine} has a record with ${foreign.join(', ')}`);
    }
  }

  #checkSwitch(cluster: string, request: string): void {
    const stored = this.#world.storedCluster(cluster);
    if (stored === undefined) this.violated('no-cluster', `${request} for ${cluster}`);
    else if (!stored.enabled && stored.observedGeneration === stored.generation) {
      this.violated('switched-off', `${request} was decided though ${cluster} is off and says so`);
    }
  }

  #checkSharing({ cluster, before, calledAt, sharedSince }: WrittenDecision): void {
    if (sharedSince === undefined || calledAt < sharedSince) return;
    this.violated(
      'shared-server',
      `${before.metadata.name} was decided for ${cluster} though two clusters have its API server`,
    );
  }

  #checkApproval(written: WrittenDecision, origin: RequestOrigin): void {
    const { before, cluster, kubernetes, seenClusters } = written;
    const { name } = before.metadata;
    const nodeName = nodeNameOf(origin.username) ?? '';
    const owners = this.#world
      .machinesOf(kubernetes)
      .filter(({ plan }) => plan.nodeName === nodeName);
    if (owners.length === 0) {
      this.violated('no-such-node', `${name} of ${origin.username} was approved`);
      return;
    }
    for (const asked of origin.names) {
      if (this.#isReserved(asked, cluster, seenClusters)) {
        this.violated('reserved', `${name} was approved with ${asked}`);
      }
    }
    const own = origin.names.filter((asked) => !isExtra(asked, seenClusters));
    this.#checkTruth(written, own, owners);
    for (const asked of origin.names) {
      const holder = this.#honestHolder(asked, ...owners);
      if (holder === undefined || owners.some((owner) => owner.everHeld(asked))) continue;
      const whose = `${asked} of ${holder.plan.name}`;
      this.violated('name-of-another', `${name} of ${nodeName} was approved with ${whose}`);
    }
    this.#checkStored(written, own, owners);
  }

  /** All names were at one moment those of the machine, unless its own Talos lies about itself. */
  #checkTruth(
    { before, calledAt }: WrittenDecision,
    own: readonly string[],
    owners: readonly PhysicalMachine[],
  ): void {
    const now = this.#world.clock.now();
    const truthful = owners.find((owner) => owner.heldAll(own, calledAt - freshnessMs, now));
    if (truthful === undefined) {
      if (owners.some(({ plan }) => plan.conduct === 'lying')) return;
      this.violated('not-its-names', `${before.metadata.name} was approved with ${own.join(', ')}`);
      return;
    }
    let age = 0;
    while (!truthful.heldAll(own, calledAt - age, now)) age += 500;
    this.stalestApproval = Math.max(this.stalestApproval, age);
  }

  /** A crash must not forget what an approval rests on, and a deleted machine is nobody. */
  #checkStored(
    { before, cluster, calledAt }: WrittenDecision,
    own: readonly string[],
    owners: readonly PhysicalMachine[],
  ): void {
    if (this.#world.isStored(cluster, own, calledAt)) return;
    const now = this.#world.clock.now();
    // Where the machine has just been deleted, what was stored went with it; the watch may be late.
    if (owners.some(({ plan }) => now - this.#world.removedAt(plan.name) < longestLagMs)) return;
    this.violated('not-stored', `${before.metadata.name} rests on facts that are in no status`);
  }

  #checkDenial(written: WrittenDecision, origin: RequestOrigin, kubernetes: number): void {
    const { machine, createdAt, names } = origin;
    if (machine === undefined || !origin.honest) return;
    if (machine.changedAt > createdAt - settledMs) return;
    if (this.#world.disturbedSince(machine, createdAt - settledMs)) return;
    const twins = this.#world
      .machinesOf(kubernetes)
      .filter(({ plan }) => plan.nodeName === machine.plan.nodeName);
    if (twins.length > 1) return;
    if (names.some((name) => this.#world.isClaimed(name, machine))) return;
    this.violated(
      'honest-denied',
      `${written.before.metadata.name} of ${machine.plan.nodeName} was denied: ${written.reason} ${written.message}`,
    );
  }

  /** An honest machine other than these, to which the inventory gives the name and that has it. */
  #honestHolder(name: string, ...but: PhysicalMachine[]): PhysicalMachine | undefined {
    const cluster = but[0]?.plan.cluster;
    return [...this.#world.physical.values()].find(
      (other) =>
        !but.includes(other) &&
        other.plan.cluster === cluster &&
        other.plan.conduct === 'honest' &&
        other.holds(name) &&
        this.#world.inventoryGives(other, name, freshnessMs),
    );
  }

  #isReserved(name: string, cluster: string, seen: readonly TalosCluster[]): boolean {
    const plan = this.#world.planOf(cluster);
    const endpoint = plan.endpoint === undefined ? undefined : new URL(plan.endpoint).hostname;
    const byControlPlane = [...this.#world.physical.values()].some(
      (machine) => machine.plan.machineType === 'controlplane' && machine.everHeld(name),
    );
    if (name === endpoint && !byControlPlane) return true;
    if (excludedIn(plan).some((entry) => covers(entry, name))) return true;
    return (
      seen.length > 0 &&
      seen.every(({ spec: { reserved } }) =>
        [...reserved.dnsNames, ...reserved.ipAddresses, ...reserved.subnets].some((entry) =>
          covers(entry, name),
        ),
      )
    );
  }
}

/** True where some version of the cluster that was seen gives the name to all machines. */
function isExtra(name: string, seen: readonly TalosCluster[]): boolean {
  return seen.some(({ spec: { servingCertificates } }) =>
    [...servingCertificates.extraDNSNames, ...servingCertificates.extraSubnets].some((entry) =>
      covers(entry, name),
    ),
  );
}

/** True where the entry, a name, an address or a CIDR, is or holds the name. */
export function covers(entry: string, name: string): boolean {
  if (entry === name) return true;
  if (isIP(name) === 0 || !entry.includes('/')) return false;
  const cidr = parseCidr(entry);
  const address = parseIpAddress(name);
  if (cidr === undefined || address === undefined) return false;
  return within(formatIpAddress(address), entry);
}

function within(address: string, cidr: string): boolean {
  const [base = '', length = '0'] = cidr.split('/');
  const number = (text: string) =>
    text.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  if (isIP(base) !== 4 || isIP(address) !== 4) return false;
  const size = 2 ** (32 - Number(length));
  return Math.floor(number(address) / size) === Math.floor(number(base) / size);
}

function conditionsOf(object: KubeObject): readonly string[] {
  const status = object['status'] as
    | { readonly conditions?: readonly { readonly type: string }[] }
    | undefined;
  return (status?.conditions ?? []).map(({ type }) => type);
}
