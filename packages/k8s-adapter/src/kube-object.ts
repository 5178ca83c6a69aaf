/**
 * An object as the API server sends it: JSON, nothing dropped, so that it can be sent back whole.
 * (apimachinery `pkg/apis/meta/v1/types.go`)
 */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    /** RFC 3339, whole seconds. */
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string | null;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** True for what JSON calls an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for JSON that has the metadata every stored object has: name, uid and resource version. */
export function isKubeObject(value: unknown): value is KubeObject {
  if (!isRecord(value) || !isRecord(value['metadata'])) return false;
  const { name, uid, resourceVersion } = value['metadata'];
  return typeof name === 'string' && typeof uid === 'string' && typeof resourceVersion === 'string';
}

/** `namespace/name`, or the name alone for cluster-scoped objects: unique within one list. */
export function objectKey(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
