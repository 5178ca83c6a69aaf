import type { AccessSource } from './access-source.ts';
import { CallFailure } from './call-failure.ts';
import { Connector } from './connector.ts';
import { getResource, streamResources } from './cosi-calls.ts';
import type { CosiClient } from './cosi-client.ts';
import { gatherNodeFacts } from './node-facts.ts';
import type { Resource } from './resource.ts';
import { watchOverConnector } from './resource-watch.ts';
import type { TalosClient } from './talos-client.ts';
import { versionCall } from './wire.ts';

/** Settings of a client; times in milliseconds. */
export interface TalosClientOptions {
  /** Asked before every read; other credentials than the last ones open new connections. */
  readonly access: AccessSource;
  /** Port of the Talos API where an address names none. Default 50000. */
  readonly port?: number;
  /** Bound of one whole read, all routes and resources together. Default 5000. */
  readonly deadlineMs?: number;
  /** Bound of one attempt to connect. Default 1500. */
  readonly directConnectMs?: number;
  /** Most connections open at a time; resting ones give way. Default 256. */
  readonly maxConnections?: number;
}

const maxListed = 16_384;
const maxListedBytes = 64 * 1024 * 1024;

/**
 * A client for the nodes of one cluster. Nothing is dialled before the first read.
 *
 * Connections stay open for five minutes after their last use. One that gave no answer is not used
 * again.
 */
export function createTalosClient(options: TalosClientOptions): TalosClient & CosiClient {
  const connector = new Connector({
    access: options.access,
    port: options.port ?? 50_000,
    deadlineMs: options.deadlineMs ?? 5000,
    connectMs: options.directConnectMs ?? 1500,
    maxConnections: options.maxConnections ?? 256,
  });

  return {
    readNodeFacts: ({ address, controlPlane }) =>
      connector.work(address, { purpose: 'facts' }, async ({ channel, scope, route }) => {
        const reader = {
          get: (query: { namespace: string; type: string; id: string }) =>
            getResource(channel, scope, query),
          list: (query: { namespace: string; type: string }) =>
            streamResources(channel, scope, query),
        };
        return { ...(await gatherNodeFacts(reader, controlPlane)), route: route.kind };
      }),

    readResource: ({ address }, namespace, type, id) =>
      connector.work(address, { purpose: 'resources' }, ({ channel, scope }) =>
        getResource(channel, scope, { namespace, type, id }),
      ),

    listResources: ({ address }, namespace, type) =>
      connector.work(address, { purpose: 'resources' }, ({ channel, scope }) =>
        collected(streamResources(channel, scope, { namespace, type })),
      ),

    watchResource: ({ address }, namespace, type, id, signal) =>
      watchOverConnector(
        connector,
        address,
        id === undefined ? { namespace, type } : { namespace, type, id },
        signal,
      ),

    readVersion: ({ address }) =>
      connector.work(address, { purpose: 'resources' }, async ({ channel, scope }) => {
        const response = await channel.unary(versionCall, {}, scope);
        const message = response.messages[0];
        if (message?.version === undefined || message.version === null) {
          throw new CallFailure('protocol', 'the answer names no Talos version');
        }
        return { tag: message.version.tag, platform: message.platform?.name ?? '' };
      }),

    close: () => connector.close(),
  };
}

async function collected(resources: AsyncIterable<Resource>): Promise<readonly Resource[]> {
  const all: Resource[] = [];
  let bytes = 0;
  for await (const resource of resources) {
    all.push(resource);
    bytes += resource.protoSpec.length + resource.yamlSpec.length;
    if (all.length > maxListed || bytes > maxListedBytes) {
      throw new CallFailure('protocol', 'more resources than a list may have');
    }
  }
  return all;
}
