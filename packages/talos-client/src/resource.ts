import { CallFailure } from './call-failure.ts';
import type { WireQuery, WireResource } from './wire.ts';

/** A Talos resource as the node sent it (COSI: api/v1alpha1). */
export interface Resource {
  readonly namespace: string;
  readonly type: string;
  readonly id: string;
  /** Resource version: a decimal number that grows with every change. */
  readonly version: string;
  readonly phase: 'running' | 'tearingDown';
  /** Controller that writes it; empty for none. */
  readonly owner: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The payload in the protobuf message of its type; empty where every field has its default. */
  readonly protoSpec: Uint8Array;
  /** The payload as YAML. */
  readonly yamlSpec: string;
}

/** `NodeIPs.kubernetes.talos.dev k8s/kubelet`: how messages name a resource. */
export function resourceText(query: WireQuery): string {
  return `${query.type} ${query.namespace}/${query.id ?? '*'}`;
}

/**
 * Checks that a resource is the one that was asked for.
 *
 * @throws CallFailure `protocol` where it is another, or none.
 */
export function checkedResource(wire: WireResource | null, query: WireQuery): Resource {
  const metadata = wire?.metadata;
  if (metadata === undefined || metadata === null) {
    throw new CallFailure('protocol', 'the answer holds no resource');
  }
  const isAsked =
    metadata.namespace === query.namespace &&
    metadata.type === query.type &&
    (query.id === undefined ? metadata.id !== '' : metadata.id === query.id);
  if (!isAsked) {
    throw new CallFailure('protocol', 'the answer is about another resource');
  }
  const { phase } = metadata;
  if (phase !== 'running' && phase !== 'tearingDown') {
    throw new CallFailure('protocol', 'the resource is in a phase that does not exist');
  }
  return {
    ...metadata,
    phase,
    protoSpec: wire?.spec?.protoSpec ?? new Uint8Array(),
    yamlSpec: wire?.spec?.yamlSpec ?? '',
  };
}
