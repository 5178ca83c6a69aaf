import { setTimeout as sleep } from 'node:timers/promises';
import { CallFailure } from './call-failure.ts';
import type { Connected, Connector } from './connector.ts';
import { aboutResource } from './cosi-calls.ts';
import type { ResourceEvent } from './cosi-client.ts';
import { Handoff } from './handoff.ts';
import { checkedResource } from './resource.ts';
import { type WireEvent, type WireQuery, watchCall } from './wire.ts';

const silenceMs = 600_000;
const reopenDelayMs = 1000;

type Sink = (event: ResourceEvent) => Promise<void>;

/**
 * Follows a resource, or a type where the query has no id (COSI: pkg/state/protobuf/server).
 *
 * @throws TalosError
 */
export async function* watchOverConnector(
  connector: Connector,
  address: string,
  query: WireQuery,
  signal: AbortSignal,
): AsyncGenerator<ResourceEvent, void, undefined> {
  const leaving = new AbortController();
  const events = new Handoff<ResourceEvent>();
  const options = {
    purpose: 'resources',
    lasting: true,
    signal: AbortSignal.any([signal, leaving.signal]),
  } as const;
  const run = async () => {
    while (!options.signal.aborted) {
      await connector.work(address, options, (connected) =>
        followOnce(connected, query, (event) => events.put(event)),
      );
      await sleep(reopenDelayMs, undefined, { signal: options.signal });
      await events.put({ kind: 'reopened' });
    }
  };
  const running = run().then(
    () => events.end(),
    (error) => (options.signal.aborted ? events.end() : events.end(error)),
  );
  try {
    yield* events.values();
  } finally {
    leaving.abort();
    events.end();
    await running;
  }
}

/** Follows until the server has to be asked anew. */
async function followOnce(connected: Connected, query: WireQuery, sink: Sink): Promise<void> {
  const { channel, scope, established } = connected;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), silenceMs);
  const request = {
    ...query,
    ...(query.id === undefined ? { options: { bootstrapContents: true } } : {}),
    apiVersion: 1,
  } as const;
  const bounded = { ...scope, signal: AbortSignal.any([scope.signal, silence.signal]) };
  try {
    for await (const response of channel.stream(watchCall, request, bounded)) {
      // The first message is empty and says that the watch stands.
      established();
      timer.refresh();
      for (const event of response.event) {
        if (event.eventType === 'ERRORED') {
          return;
        }
        await tell(event, query, sink);
      }
    }
  } catch (error) {
    const isSilent = silence.signal.aborted && !scope.signal.aborted;
    const isDropped = error instanceof CallFailure && error.isExhausted;
    if (!isSilent && !isDropped) {
      throw aboutResource(error, query);
    }
  } finally {
    clearTimeout(timer);
  }
}

async function tell(event: WireEvent, query: WireQuery, sink: Sink): Promise<void> {
  switch (event.eventType) {
    case 'CREATED':
      return sink({ kind: 'created', resource: checkedResource(event.resource, query) });
    case 'UPDATED':
      return sink({ kind: 'updated', resource: checkedResource(event.resource, query) });
    case 'DESTROYED':
      return sink({ kind: 'destroyed', id: checkedResource(event.resource, query).id });
    case 'BOOTSTRAPPED':
      // Carries a resource without an id, which stands for nothing.
      return sink({ kind: 'bootstrapped' });
    default:
      // NOOP moves bookmarks only, and a later Talos may tell more than is known here.
      return;
  }
}
