import type { Octets } from '../octets.ts';
import type { Source } from './node-identity.ts';

/** Who beside this machine reports one name or address. */
export interface Holders {
  /** Machines that report it as their own: by `NodeIP`, `Nodename` or `HostnameStatus`. */
  readonly byNode: readonly string[];
  /** Machines for which only the platform reports it: `ExternalAddress`, `PlatformMetadata`. */
  readonly byPlatform: readonly string[];
}

/** Names and addresses of the other machines, by folded name and by unmapped address. */
export interface HolderIndex {
  readonly dns: ReadonlyMap<string, Holders>;
  readonly ip: ReadonlyMap<Octets, Holders>;
}

/** Nobody else reports it. */
export const nobody: Holders = { byNode: [], byPlatform: [] };

/** How much a source says about who a value belongs to. */
export type SourceRank = 'node' | 'platform' | 'configured' | 'unknown';

/** `unknown` for a word that is no source: it is evidence for nobody. */
export function rankOf(source: Source | string): SourceRank {
  switch (source) {
    case 'NodeIP':
    case 'Nodename':
    case 'HostnameStatus':
      return 'node';
    case 'ExternalAddress':
    case 'PlatformMetadata':
      return 'platform';
    case 'Configured':
      return 'configured';
    default:
      return 'unknown';
  }
}

/** Adds what one machine reports about one key. */
export function addHolder(
  index: Map<string, { byNode: string[]; byPlatform: string[] }>,
  key: string,
  machine: string,
  source: string,
): void {
  const rank = rankOf(source);
  // A configured value is the cluster's: every machine has it, and so nobody holds it.
  if (rank === 'configured') return;
  let holders = index.get(key);
  if (holders === undefined) {
    holders = { byNode: [], byPlatform: [] };
    index.set(key, holders);
  }
  // A source that is unknown here may be one that a newer reader takes for the machine's own word.
  const list = rank === 'platform' ? holders.byPlatform : holders.byNode;
  if (!list.includes(machine)) list.push(machine);
}
