import type { NodeReading, ReservedNames, SourcedValue } from '@ichor/policy';
import {
  createTalosClient,
  TalosconfigError,
  TalosError,
  talosconfigFile,
} from '@ichor/talos-client';
import { factsOf } from '../kubelet-serving/machine-facts.ts';
import { canonicalAddress } from '../kubelet-serving/name-text.ts';
import { UsageError } from './exit-code.ts';

/** What to ask, and what to add to the answer. */
export interface LiveNode {
  readonly talosconfig: string;
  readonly context: string | undefined;
  /** Address of the node. */
  readonly node: string;
  readonly controlPlane: boolean;
  /** Addresses, CIDRs and names that are reserved beside what a control plane says. */
  readonly reserved: readonly string[];
}

/**
 * Asks a node over the Talos API. A node that cannot be read gives `unreadable`, as it does for
 * the operator; nothing is thrown for it.
 *
 * @param nodeName the name to use where the node cannot be read
 * @throws UsageError where the talosconfig cannot be used
 */
export async function readLiveNode(live: LiveNode, nodeName: string): Promise<NodeReading> {
  const access = talosconfigFile(
    live.talosconfig,
    live.context === undefined ? {} : { contextName: live.context },
  );
  await access.current().catch((error: unknown) => {
    // That is a mistake on this command line, not something that the node did.
    if (error instanceof TalosconfigError) throw new UsageError(`${error.message}.`);
    throw error;
  });
  const client = createTalosClient({ access });
  try {
    const said = await client.readNodeFacts({
      address: live.node,
      controlPlane: live.controlPlane,
    });
    const result = factsOf(said, Date.now());
    if (result.kind === 'unusable') return { kind: 'unreadable', nodeName, cause: result.cause };
    const { facts } = result;
    const subnets: readonly SourcedValue[] = [];
    return {
      kind: 'read',
      identity: {
        nodeName: facts.nodeName ?? '',
        dnsNames: facts.dnsNames,
        ipAddresses: facts.ipAddresses,
        subnets,
        reserved: reservedOf([...(facts.reserved ?? []), ...live.reserved]),
        others: [],
      },
    };
  } catch (error) {
    if (error instanceof TalosError) {
      return { kind: 'unreadable', nodeName, cause: error.message };
    }
    throw error;
  } finally {
    client.close();
  }
}

function reservedOf(entries: readonly string[]): ReservedNames {
  const isAddress = (entry: string) => canonicalAddress(entry) !== undefined;
  return {
    subnets: entries.filter((entry) => entry.includes('/')),
    ipAddresses: entries.filter(isAddress),
    dnsNames: entries.filter((entry) => !entry.includes('/') && !isAddress(entry)),
  };
}
