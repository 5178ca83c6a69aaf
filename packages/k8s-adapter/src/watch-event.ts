import { isKubeObject, isRecord, type KubeObject } from './kube-object.ts';

/** One line of a watch, understood. (apimachinery `pkg/watch/watch.go`, `pkg/apis/meta/v1/watch.go`) */
export type WatchEvent =
  | { readonly kind: 'put'; readonly object: KubeObject }
  | { readonly kind: 'deleted'; readonly object: KubeObject }
  /** Nothing changed up to this resource version. */
  | { readonly kind: 'bookmark'; readonly resourceVersion: string }
  /** The server ends the watch; `status` is an HTTP status, 410 where the past is forgotten. */
  | { readonly kind: 'error'; readonly status: number; readonly message: string }
  | { readonly kind: 'broken'; readonly problem: string };

/** Reads one line of a watch. Never throws. */
export function parseWatchEvent(line: string): WatchEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return { kind: 'broken', problem: 'a line is no JSON' };
  }
  if (!isRecord(event)) return { kind: 'broken', problem: 'a line is no object' };
  const { type, object } = event;
  if (type === 'ERROR') return readError(object);
  if (type === 'BOOKMARK') {
    const metadata = isRecord(object) ? object['metadata'] : undefined;
    const version = isRecord(metadata) ? metadata['resourceVersion'] : undefined;
    return typeof version === 'string' && version !== ''
      ? { kind: 'bookmark', resourceVersion: version }
      : { kind: 'broken', problem: 'a bookmark has no resource version' };
  }
  if (!isKubeObject(object)) return { kind: 'broken', problem: 'an object has no metadata' };
  if (type === 'ADDED' || type === 'MODIFIED') return { kind: 'put', object };
  if (type === 'DELETED') return { kind: 'deleted', object };
  return { kind: 'broken', problem: `an event has the unknown type ${JSON.stringify(type)}` };
}

function readError(status: unknown): WatchEvent {
  const { code, reason, message } = isRecord(status) ? status : {};
  const expired = reason === 'Expired' || reason === 'Gone';
  return {
    kind: 'error',
    status: expired ? 410 : typeof code === 'number' ? code : 500,
    message: typeof message === 'string' ? message : 'no message',
  };
}
