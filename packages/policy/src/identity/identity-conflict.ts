import { type Holders, rankOf } from './holders.ts';
import { formatIpAddress, unmapAddress } from './ip-address.ts';
import type { Source } from './node-identity.ts';
import type { PreparedIdentity } from './prepare-identity.ts';
import { isReservedAddress, isReservedName } from './reserved.ts';

/** One name or address that this machine and others report as their own. */
export interface IdentityConflict {
  readonly kind: 'dns' | 'ip';
  /** The folded name, or the address in canonical text. */
  readonly value: string;
  readonly machines: readonly string[];
}

/**
 * Every value that a machine reports by `NodeIP`, `Nodename` or `HostnameStatus` while another
 * machine does, too, whether it is asked for or not. Reserved values are nobody's, and so are no
 * conflict; what a platform or an administrator says never is.
 */
export function conflictsOf(identity: PreparedIdentity): readonly IdentityConflict[] {
  const conflicts: IdentityConflict[] = [];
  for (const [name, sources] of identity.dns) {
    const machines = rivals(sources, identity.others.dns.get(name));
    if (machines.length > 0 && !isReservedName(identity.reserved, name)) {
      conflicts.push({ kind: 'dns', value: name, machines });
    }
  }
  for (const [address, sources] of identity.ip) {
    const machines = rivals(sources, identity.others.ip.get(unmapAddress(address)));
    if (machines.length > 0 && !isReservedAddress(identity.reserved, address)) {
      conflicts.push({ kind: 'ip', value: formatIpAddress(address), machines });
    }
  }
  return conflicts;
}

function rivals(sources: readonly Source[], holders: Holders | undefined): readonly string[] {
  return sources.some((source) => rankOf(source) === 'node') ? (holders?.byNode ?? []) : [];
}
