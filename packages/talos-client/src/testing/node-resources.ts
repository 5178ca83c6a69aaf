import { specs, type WireResource } from '../wire.ts';
import { addressBytes } from './certificates.ts';
import type { InMemoryNode } from './in-memory-talos.ts';

/** A resource as a fake node stores it, with its payload in protobuf. */
export function wireResource(
  namespace: string,
  type: string,
  id: string,
  protoSpec: Uint8Array,
  phase = 'running',
): WireResource {
  const metadata = { namespace, type, id, version: '1', owner: '', phase };
  return {
    metadata: { ...metadata, labels: {}, annotations: {} },
    spec: { protoSpec, yamlSpec: '' },
  };
}

const ip = (address: string) => ({ ip: addressBytes(address) });

/** The resources with which a Talos node says what an `InMemoryNode` says. */
export function nodeResources(node: InMemoryNode): WireResource[] {
  const [hostname = '', internalDns = '', externalDns = ''] = node.platformNames ?? [];
  const address = (text: string, linkName: string) =>
    wireResource(
      'network',
      'AddressStatuses.net.talos.dev',
      `${linkName}/${text}/32`,
      specs.addressStatus.encode({ address: { ...ip(text), prefixLength: 32 }, linkName }),
    );
  const resources = [
    wireResource(
      'k8s',
      'NodeIPs.kubernetes.talos.dev',
      'kubelet',
      specs.nodeIp.encode({ addresses: node.nodeIps.map(ip) }),
    ),
    wireResource(
      'k8s',
      'Nodenames.kubernetes.talos.dev',
      'nodename',
      specs.nodename.encode({ nodename: node.nodeName }),
    ),
    wireResource(
      'network',
      'HostnameStatuses.net.talos.dev',
      'hostname',
      specs.hostnameStatus.encode({
        hostname: node.hostname ?? node.nodeName,
        domainname: node.domainname ?? '',
      }),
    ),
    ...node.nodeIps.map((text) => address(text, 'eth0')),
    ...(node.externalAddresses ?? []).map((text) => address(text, 'external')),
  ];
  if (node.platformNames !== undefined) {
    resources.push(
      wireResource(
        'runtime',
        'PlatformMetadatas.talos.dev',
        'platformmetadata',
        specs.platformMetadata.encode({ platform: 'fake', hostname, internalDns, externalDns }),
      ),
    );
  }
  if (node.excludeSubnets !== undefined) {
    resources.push(
      wireResource(
        'k8s',
        'NodeIPConfigs.kubernetes.talos.dev',
        'kubelet',
        specs.nodeIpConfig.encode({ validSubnets: [], excludeSubnets: node.excludeSubnets }),
      ),
    );
  }
  return resources;
}
