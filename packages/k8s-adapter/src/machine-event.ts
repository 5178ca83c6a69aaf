import { createHash } from 'node:crypto';
import type { MachineEvent } from './inventory.ts';

/** Longest `note` that the API server takes, in bytes. (Kubernetes `pkg/apis/core/validation/events.go`) */
const noteLimit = 1024;
/** Longest `reason`, `action` and `reportingInstance`, in bytes. */
const wordLimit = 128;
const nameLimit = 253;

/** Who reports, as `kubectl get events` shows it. */
const reportingController = 'ichor.dev/operator';

/**
 * Name of the Event of a machine and a reason: the same for every repeat, another one for a machine
 * that was deleted and made anew.
 */
export function eventName({ machine, reason }: MachineEvent): string {
  const digest = createHash('sha256').update(`${machine.uid}/${reason}`).digest('hex').slice(0, 16);
  const room = nameLimit - digest.length - 1;
  return `${machine.name.slice(0, room).replace(/[^a-z0-9]+$/, '')}.${digest}`;
}

/**
 * Body of an `events.k8s.io/v1` Event that happened once, at `at` (milliseconds since the epoch).
 * `instance` is the name of this process, a pod's name for example.
 */
export function newEventBody(
  event: MachineEvent,
  namespace: string,
  at: number,
  instance: string,
): Record<string, unknown> {
  const { machine, related } = event;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: eventName(event), namespace },
    eventTime: microTime(at),
    reportingController,
    reportingInstance: cutBytes(instance, wordLimit),
    type: event.type,
    reason: cutBytes(event.reason, wordLimit),
    action: cutBytes(event.action, wordLimit),
    note: cutNote(event.note),
    regarding: {
      apiVersion: 'ichor.dev/v1alpha1',
      kind: 'TalosMachine',
      namespace,
      name: machine.name,
      uid: machine.uid,
    },
    ...(related === undefined
      ? {}
      : {
          related: {
            apiVersion: 'certificates.k8s.io/v1',
            kind: 'CertificateSigningRequest',
            name: related.name,
            uid: related.uid,
          },
        }),
  };
}

/** Merge patch that says how often an Event has happened; 2 is the least that the server takes. */
export function repeatPatch(count: number, at: number): Record<string, unknown> {
  return { series: { count: Math.max(2, count), lastObservedTime: microTime(at) } };
}

/** Cuts to what an Event holds (1,024 bytes of UTF-8), marking the cut with an ellipsis. */
export function cutNote(note: string): string {
  return cutBytes(note, noteLimit);
}

/** A `metav1.MicroTime`: the API server insists on exactly six digits after the point. */
export function microTime(at: number): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}

function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limit) return text;
  const mark = '…';
  let end = limit - Buffer.byteLength(mark);
  // A continuation byte (10xxxxxx) at the cut means that it falls inside a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.subarray(0, end).toString('utf8')}${mark}`;
}
