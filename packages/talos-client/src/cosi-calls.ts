import { CallFailure } from './call-failure.ts';
import type { CallScope, Channel } from './channel.ts';
import { checkedResource, type Resource, resourceText } from './resource.ts';
import type { TalosErrorCode } from './talos-error.ts';
import { getCall, listCall, type WireQuery } from './wire.ts';

const aboutOneResource = new Set<TalosErrorCode>(['notFound', 'denied', 'protocol']);

/**
 * Says which resource a failure is about. Where the connection failed, whichever read was first
 * to notice is no news, and would make every repetition look different.
 */
export function aboutResource(error: unknown, query: WireQuery): unknown {
  if (!(error instanceof CallFailure) || !aboutOneResource.has(error.code)) {
    return error;
  }
  return new CallFailure(error.code, `${resourceText(query)}: ${error.message}`, error);
}

/** Gets one resource. @throws CallFailure */
export async function getResource(
  channel: Channel,
  scope: CallScope,
  query: Required<WireQuery>,
): Promise<Resource> {
  try {
    const response = await channel.unary(getCall, query, scope);
    return checkedResource(response.resource, query);
  } catch (error) {
    throw aboutResource(error, query);
  }
}

/** Lists the resources of a type, as they come. @throws CallFailure */
export async function* streamResources(
  channel: Channel,
  scope: CallScope,
  query: WireQuery,
): AsyncGenerator<Resource, void, undefined> {
  try {
    for await (const response of channel.stream(listCall, query, scope)) {
      yield checkedResource(response.resource, query);
    }
  } catch (error) {
    throw aboutResource(error, query);
  }
}
