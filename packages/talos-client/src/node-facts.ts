import { CallFailure } from './call-failure.ts';
import { ipText } from './ip-text.ts';
import { type Resource, resourceText } from './resource.ts';
import type { NodeFacts } from './talos-client.ts';
import { type SpecCodec, specs, type WireQuery } from './wire.ts';

/** Reads one resource, and the resources of one type, of the node whose facts are gathered. */
export interface ResourceReader {
  get(query: Required<WireQuery>): Promise<Resource>;
  list(query: WireQuery): AsyncIterable<Resource>;
}

const nodeIp = { namespace: 'k8s', type: 'NodeIPs.kubernetes.talos.dev', id: 'kubelet' };
const nodename = { namespace: 'k8s', type: 'Nodenames.kubernetes.talos.dev', id: 'nodename' };
const nodeIpConfig = {
  namespace: 'k8s',
  type: 'NodeIPConfigs.kubernetes.talos.dev',
  id: 'kubelet',
};
const hostnameStatus = {
  namespace: 'network',
  type: 'HostnameStatuses.net.talos.dev',
  id: 'hostname',
};
const addressStatuses = { namespace: 'network', type: 'AddressStatuses.net.talos.dev' };
const platformMetadata = {
  namespace: 'runtime',
  type: 'PlatformMetadatas.talos.dev',
  id: 'platformmetadata',
};

// Talos puts addresses that it learned from a cloud's metadata on a link of this name, which no
// interface can have been given by the kubelet or by Kubernetes.
const externalLink = 'external';

// Far above what an honest node has (kube-proxy in IPVS mode adds an address per Service), far
// below what would hurt us.
const limits = {
  nodeIps: 16,
  externalAddresses: 64,
  excludeSubnets: 1024,
  nameLength: 253,
  subnetLength: 64,
  listedAddresses: 16_384,
  listedBytes: 8 * 1024 * 1024,
};

function protocol(query: WireQuery, problem: string): CallFailure {
  return new CallFailure('protocol', `${resourceText(query)} ${problem}`);
}

function decoded<Spec>(resource: Resource, codec: SpecCodec<Spec>): Spec {
  try {
    return codec.decode(resource.protoSpec);
  } catch {
    throw protocol(resource, 'has a payload that cannot be decoded');
  }
}

function addressText(bytes: Uint8Array | undefined, query: WireQuery): string {
  const text = bytes === undefined ? undefined : ipText(bytes);
  if (text === undefined) {
    throw protocol(query, `holds an address of ${bytes?.length ?? 0} bytes, not 4 or 16`);
  }
  return text;
}

function name(text: string, query: WireQuery, field: string): string {
  if (text.length > limits.nameLength) {
    throw protocol(query, `has a ${field} of more than ${limits.nameLength} characters`);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\s\u0000-\u001f\u007f-\u009f]/.test(text)) {
    throw protocol(query, `has a ${field} with blanks or control characters`);
  }
  return text;
}

function requiredName(text: string, query: WireQuery, field: string): string {
  if (text === '') {
    throw protocol(query, `has no ${field}`);
  }
  return name(text, query, field);
}

function atMost<Item>(items: readonly Item[], limit: number, query: WireQuery): readonly Item[] {
  if (items.length > limit) {
    throw protocol(query, `lists ${items.length} entries; at most ${limit} are accepted`);
  }
  return items;
}

async function required(reader: ResourceReader, query: Required<WireQuery>): Promise<Resource> {
  const resource = await reader.get(query);
  if (resource.phase === 'tearingDown') {
    throw new CallFailure('notFound', `${resourceText(query)} is being torn down`);
  }
  return resource;
}

async function readNodeIps(reader: ResourceReader): Promise<string[]> {
  const spec = decoded(await required(reader, nodeIp), specs.nodeIp);
  return atMost(spec.addresses, limits.nodeIps, nodeIp).map(({ ip }) => addressText(ip, nodeIp));
}

async function readNodename(reader: ResourceReader): Promise<string> {
  const spec = decoded(await required(reader, nodename), specs.nodename);
  return requiredName(spec.nodename, nodename, 'nodename');
}

async function readHostname(
  reader: ResourceReader,
): Promise<{ hostname: string; domainname: string }> {
  const spec = decoded(await required(reader, hostnameStatus), specs.hostnameStatus);
  return {
    hostname: requiredName(spec.hostname, hostnameStatus, 'hostname'),
    domainname: name(spec.domainname, hostnameStatus, 'domainname'),
  };
}

async function readExternalAddresses(reader: ResourceReader): Promise<string[]> {
  const addresses = new Set<string>();
  let [count, bytes] = [0, 0];
  for await (const resource of reader.list(addressStatuses)) {
    count += 1;
    bytes += resource.protoSpec.length + resource.yamlSpec.length;
    if (count > limits.listedAddresses || bytes > limits.listedBytes) {
      throw protocol(addressStatuses, 'has more entries than any node can have');
    }
    if (resource.phase === 'tearingDown') {
      continue;
    }
    const spec = decoded(resource, specs.addressStatus);
    if (spec.linkName === externalLink) {
      addresses.add(addressText(spec.address?.ip, resource));
    }
  }
  return [...atMost([...addresses], limits.externalAddresses, addressStatuses)];
}

async function readPlatformNames(reader: ResourceReader): Promise<string[]> {
  let resource: Resource;
  try {
    resource = await reader.get(platformMetadata);
  } catch (error) {
    // A platform without metadata has none; any other failure says nothing about the platform.
    if (error instanceof CallFailure && error.code === 'notFound') {
      return [];
    }
    throw error;
  }
  if (resource.phase === 'tearingDown') {
    return [];
  }
  const spec = decoded(resource, specs.platformMetadata);
  const names = [spec.hostname, spec.internalDns, spec.externalDns]
    .filter((text) => text !== '')
    .map((text) => name(text, platformMetadata, 'name'));
  return [...new Set(names)];
}

async function readExcludeSubnets(reader: ResourceReader): Promise<readonly string[]> {
  const spec = decoded(await required(reader, nodeIpConfig), specs.nodeIpConfig);
  const subnets = atMost(spec.excludeSubnets, limits.excludeSubnets, nodeIpConfig);
  if (subnets.some((subnet) => subnet.length > limits.subnetLength)) {
    throw protocol(nodeIpConfig, 'lists a subnet that is none');
  }
  return subnets;
}

/**
 * Gathers what a node says about itself: all of it, or the first failure.
 *
 * The reads run side by side; the caller ends the others once one has failed.
 *
 * @throws CallFailure `notFound` for a required resource that is absent or being torn down,
 *   `protocol` for contents that no Talos node reports, and whatever a read fails with
 */
export async function gatherNodeFacts(
  reader: ResourceReader,
  controlPlane: boolean,
): Promise<Omit<NodeFacts, 'route'>> {
  const [nodeIps, nodeName, { hostname, domainname }, externalAddresses, platformNames, excluded] =
    await Promise.all([
      readNodeIps(reader),
      readNodename(reader),
      readHostname(reader),
      readExternalAddresses(reader),
      readPlatformNames(reader),
      controlPlane ? readExcludeSubnets(reader) : undefined,
    ]);
  return {
    nodeName,
    nodeIps,
    hostname,
    domainname,
    externalAddresses,
    platformNames,
    excludeSubnets: excluded,
  };
}
