import type { KubeConnection } from './connection.ts';
import type { MachineEvent } from './inventory.ts';
import { KubeError } from './kube-error.ts';
import { isRecord } from './kube-object.ts';
import { eventName, newEventBody, repeatPatch } from './machine-event.ts';

/** Writes Events: one object per machine and reason, whose count a repeat raises. */
export interface EventRecorder {
  /** @throws KubeError */
  record(event: MachineEvent): Promise<void>;
}

/** Counts kept at most; a forgotten one is read again from the API server. */
const knownLimit = 4096;

/**
 * Makes a recorder for one namespace. `instance` names this process in the Events; `now` is in
 * milliseconds since the epoch and steps in until the server's clock is known.
 */
export function eventRecorder(
  connection: KubeConnection,
  namespace: string,
  instance: string,
  now: () => number = Date.now,
): EventRecorder {
  const collection = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  const counts = new Map<string, number>();
  const queues = new Map<string, Promise<void>>();

  const remember = (name: string, count: number): void => {
    counts.delete(name);
    counts.set(name, count);
    const [oldest] = counts.keys();
    if (counts.size > knownLimit && oldest !== undefined) counts.delete(oldest);
  };

  const create = async (event: MachineEvent, name: string, at: number): Promise<boolean> => {
    try {
      await connection.request({
        method: 'POST',
        path: collection,
        what: `Recording the Event ${event.reason} of TalosMachine ${event.machine.name}`,
        body: JSON.stringify(newEventBody(event, namespace, at, instance)),
      });
    } catch (error) {
      if (error instanceof KubeError && error.code === 'exists') return false;
      throw error;
    }
    remember(name, 1);
    return true;
  };

  /** The object after the patch; undefined where it has expired. */
  const patch = async (event: MachineEvent, name: string, body: unknown): Promise<unknown> => {
    try {
      const answer = await connection.request({
        method: 'PATCH',
        path: `${collection}/${encodeURIComponent(name)}`,
        what: `Counting the Event ${event.reason} of TalosMachine ${event.machine.name}`,
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: JSON.stringify(body),
      });
      return JSON.parse(answer.body);
    } catch (error) {
      if (error instanceof KubeError && error.code === 'notFound') return undefined;
      throw error;
    }
  };

  const repeat = async (event: MachineEvent, name: string, at: number): Promise<boolean> => {
    let count = counts.get(name);
    if (count === undefined) {
      // Reading Events is not among our rights; a patch that changes nothing shows the object too.
      const stored = await patch(event, name, {});
      if (stored === undefined) return false;
      count = countOf(stored);
    }
    const counted = await patch(event, name, repeatPatch(count + 1, at));
    if (counted === undefined) {
      counts.delete(name);
      return false;
    }
    remember(name, count + 1);
    return true;
  };

  const write = async (event: MachineEvent): Promise<void> => {
    const name = eventName(event);
    const at = connection.serverTime() ?? now();
    if (counts.has(name) && (await repeat(event, name, at))) return;
    if (await create(event, name, at)) return;
    if (await repeat(event, name, at)) return;
    // It expired between the two: the name is free now.
    await create(event, name, at);
  };

  return {
    record(event) {
      const name = eventName(event);
      const before = queues.get(name) ?? Promise.resolve();
      const written = before.catch(() => undefined).then(() => write(event));
      queues.set(name, written);
      const done = () => {
        if (queues.get(name) === written) queues.delete(name);
      };
      written.then(done, done);
      return written;
    },
  };
}

function countOf(stored: unknown): number {
  const series = isRecord(stored) ? stored['series'] : undefined;
  const count = isRecord(series) ? series['count'] : undefined;
  return typeof count === 'number' && Number.isInteger(count) && count > 1 ? count : 1;
}
