import type { NodeFacts, NodeTarget, TalosClient } from '../talos-client.ts';
import { TalosError, type TalosErrorCode } from '../talos-error.ts';

/** How an in-memory node misbehaves. `frozen` answers with `deadline` once the client's deadline has passed. */
export type NodeFault = 'unreachable' | 'frozen' | 'denied' | 'untrusted' | 'notFound' | 'protocol';

/** A node of an in-memory Talos cluster. `address` is what targets dial. */
export interface InMemoryNode {
  readonly nodeName: string;
  readonly nodeIps: readonly string[];
  readonly hostname?: string;
  readonly domainname?: string;
  readonly externalAddresses?: readonly string[];
  readonly platformNames?: readonly string[];
  /** Given to control-plane targets only; a node without it fails them with `notFound`. */
  readonly excludeSubnets?: readonly string[];
  readonly route?: NodeFacts['route'];
}

/** A Talos cluster that lives in memory: a `TalosClient` with controls for tests and demonstrations. */
export interface InMemoryTalos extends TalosClient {
  /** Adds the node at this address, or replaces what it reports. */
  setNode(address: string, node: InMemoryNode): void;
  /** Takes the node away: reads fail with `unreachable`. */
  removeNode(address: string): void;
  /** Makes reads of this address fail; `undefined` heals it. */
  setFault(address: string, fault: NodeFault | undefined): void;
  /** Reads begun, of one address or of all. */
  readCount(address?: string): number;
  /** Reads begun and not yet ended. */
  readonly readsInFlight: number;
}

/** Settings of an in-memory cluster. */
export interface InMemoryTalosOptions {
  /** Nodes by address. */
  readonly nodes?: Readonly<Record<string, InMemoryNode>>;
  /** What a frozen node makes a read wait; default: 5 s of the real clock. A virtual clock passes its own. */
  readonly frozenWait?: () => Promise<void>;
  /** What every read waits before it answers; default: one microtask. */
  readonly latency?: () => Promise<void>;
}

const codeOfFault: Readonly<Record<NodeFault, readonly [TalosErrorCode, string]>> = {
  unreachable: ['unreachable', 'nothing answers'],
  frozen: ['deadline', 'no answer in time'],
  denied: ['denied', 'the role of the client certificate does not allow the call'],
  untrusted: ['unauthenticated', 'the server certificate is not trusted'],
  notFound: ['notFound', 'a required resource does not exist'],
  protocol: ['protocol', 'the answer is not what Talos sends'],
};

const fiveSeconds = () => new Promise<void>((resolve) => setTimeout(resolve, 5000));

/** Starts an in-memory cluster. Nothing listens, nothing is dialled. */
export function inMemoryTalos(options: InMemoryTalosOptions = {}): InMemoryTalos {
  const nodes = new Map<string, InMemoryNode>(Object.entries(options.nodes ?? {}));
  const faults = new Map<string, NodeFault>();
  const counts = new Map<string, number>();
  const inFlight = new Map<number, () => void>();
  let begun = 0;
  let closed = false;

  const factsOf = (target: NodeTarget): NodeFacts => {
    const fault = faults.get(target.address);
    const node = nodes.get(target.address);
    if (fault !== undefined) {
      const [code, text] = codeOfFault[fault];
      throw new TalosError(code, target.address, `${target.address}: ${text}`);
    }
    if (node === undefined) {
      throw new TalosError('unreachable', target.address, `${target.address}: nothing answers`);
    }
    if (target.controlPlane && node.excludeSubnets === undefined) {
      const text = 'NodeIPConfig does not exist';
      throw new TalosError('notFound', target.address, `${target.address}: ${text}`);
    }
    return {
      nodeName: node.nodeName,
      nodeIps: [...node.nodeIps],
      hostname: node.hostname ?? node.nodeName,
      domainname: node.domainname ?? '',
      externalAddresses: [...(node.externalAddresses ?? [])],
      platformNames: [...(node.platformNames ?? [])],
      excludeSubnets: target.controlPlane ? [...(node.excludeSubnets ?? [])] : undefined,
      route: node.route ?? 'direct',
    };
  };

  const answer = async (target: NodeTarget): Promise<NodeFacts> => {
    await options.latency?.();
    // Whatever it was when the read began: a node that thaws does not give back the lost time.
    if (faults.get(target.address) === 'frozen') {
      await (options.frozenWait ?? fiveSeconds)();
      throw new TalosError('deadline', target.address, `${target.address}: no answer in time`);
    }
    return factsOf(target);
  };

  return {
    readNodeFacts(target) {
      counts.set(target.address, (counts.get(target.address) ?? 0) + 1);
      const read = begun;
      begun += 1;
      const ended = new Promise<never>((_, reject) => {
        const end = () => {
          const text = `${target.address}: the client is closed`;
          reject(new TalosError('unreachable', target.address, text));
        };
        inFlight.set(read, end);
        if (closed) {
          end();
        }
      });
      return Promise.race([ended, answer(target)]).finally(() => inFlight.delete(read));
    },
    close() {
      closed = true;
      for (const end of inFlight.values()) {
        end();
      }
    },
    setNode: (address, node) => void nodes.set(address, node),
    removeNode: (address) => void nodes.delete(address),
    setFault(address, fault) {
      if (fault === undefined) {
        faults.delete(address);
      } else {
        faults.set(address, fault);
      }
    },
    readCount: (address) =>
      address === undefined
        ? [...counts.values()].reduce((sum, count) => sum + count, 0)
        : (counts.get(address) ?? 0),
    get readsInFlight() {
      return inFlight.size;
    },
  };
}
