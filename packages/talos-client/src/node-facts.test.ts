import { describe, expect, it } from 'vitest';
import { CallFailure } from './call-failure.ts';
import { gatherNodeFacts, type ResourceReader } from './node-facts.ts';
import { checkedResource } from './resource.ts';
import { nodeResources, wireResource } from './testing/node-resources.ts';
import { specs, type WireResource } from './wire.ts';

const node = {
  nodeName: 'worker-1',
  nodeIps: ['10.5.0.11'],
  externalAddresses: ['203.0.113.1', '2001:db8::1'],
  platformNames: ['w1.cloud', 'w1.internal', 'w1.example.com'],
  excludeSubnets: ['10.244.0.0/16'],
};

function readerOf(resources: readonly WireResource[]): ResourceReader {
  return {
    async get(query) {
      const found = resources.find(
        ({ metadata }) => metadata?.type === query.type && metadata.id === query.id,
      );
      if (found === undefined) {
        throw new CallFailure('notFound', 'no such resource');
      }
      return checkedResource(found, query);
    },
    async *list(query) {
      for (const resource of resources.filter(({ metadata }) => metadata?.type === query.type)) {
        yield checkedResource(resource, query);
      }
    },
  };
}

/** The resources of the node, with others in the place of those of the same type and id. */
function withOthers(...others: readonly WireResource[]): WireResource[] {
  const key = ({ metadata }: WireResource) => `${metadata?.type} ${metadata?.id}`;
  const replaced = new Set(others.map(key));
  return [...nodeResources(node).filter((resource) => !replaced.has(key(resource))), ...others];
}

const facts = (...others: readonly WireResource[]) =>
  gatherNodeFacts(readerOf(withOthers(...others)), true);

const nodeIp = (...addresses: readonly Uint8Array[]) =>
  wireResource(
    'k8s',
    'NodeIPs.kubernetes.talos.dev',
    'kubelet',
    specs.nodeIp.encode({ addresses: addresses.map((ip) => ({ ip })) }),
  );
const nodename = (name: string) =>
  wireResource(
    'k8s',
    'Nodenames.kubernetes.talos.dev',
    'nodename',
    specs.nodename.encode({ nodename: name }),
  );
const hostname = (host: string, domainname: string) =>
  wireResource(
    'network',
    'HostnameStatuses.net.talos.dev',
    'hostname',
    specs.hostnameStatus.encode({ hostname: host, domainname }),
  );
const platform = (host: string, internalDns: string, externalDns: string) =>
  wireResource(
    'runtime',
    'PlatformMetadatas.talos.dev',
    'platformmetadata',
    specs.platformMetadata.encode({ platform: 'p', hostname: host, internalDns, externalDns }),
  );
const address = (id: string, ip: Uint8Array, linkName: string, phase = 'running') =>
  wireResource(
    'network',
    'AddressStatuses.net.talos.dev',
    id,
    specs.addressStatus.encode({ address: { ip, prefixLength: 32 }, linkName }),
    phase,
  );
const subnets = (excludeSubnets: readonly string[]) =>
  wireResource(
    'k8s',
    'NodeIPConfigs.kubernetes.talos.dev',
    'kubelet',
    specs.nodeIpConfig.encode({ validSubnets: [], excludeSubnets }),
  );

const ip = (...bytes: number[]) => Uint8Array.from(bytes);
const longName = (length: number) => 'a'.repeat(length);

describe('facts', () => {
  it('hold the external addresses only of the link external', async () => {
    const { externalAddresses } = await facts(
      address('external/198.51.100.7/32', ip(198, 51, 100, 7), 'external'),
      address('external/198.51.100.8/32', ip(198, 51, 100, 8), 'external', 'tearingDown'),
      address('external/198.51.100.9/32', ip(198, 51, 100, 9), 'eth0'),
      address('eth0/198.51.100.7/32', ip(198, 51, 100, 7), 'external'),
      address('eth1/198.51.100.6/32', ip(198, 51, 100, 6), 'External'),
    );
    expect(externalAddresses).toStrictEqual(['203.0.113.1', '2001:db8::1', '198.51.100.7']);
  });

  it('hold each platform name once, and no empty one', async () => {
    expect((await facts(platform('w1', '', 'w1'))).platformNames).toStrictEqual(['w1']);
    expect((await facts(platform('', '', ''))).platformNames).toStrictEqual([]);
  });

  it('may hold no address: what that means is not decided here', async () => {
    expect((await facts(nodeIp())).nodeIps).toStrictEqual([]);
  });

  it('leave NodeIPConfig alone on a worker, even a broken one', async () => {
    const reader = readerOf(withOthers(subnets([longName(65)])));
    expect((await gatherNodeFacts(reader, false)).excludeSubnets).toBeUndefined();
    await expect(gatherNodeFacts(reader, true)).rejects.toMatchObject({ code: 'protocol' });
  });
});

describe('bounds', () => {
  const addresses = (count: number) =>
    Array.from({ length: count }, (_, index) => ip(10, 5, index >> 8, index & 255));
  const external = (count: number) =>
    addresses(count).map((bytes, index) => address(`external/${index}`, bytes, 'external'));
  // Two external addresses are there already.
  const cases: [string, WireResource[], WireResource[], string][] = [
    ['node addresses', [nodeIp(...addresses(16))], [nodeIp(...addresses(17))], 'at most 16'],
    ['external addresses', external(62), external(63), 'at most 64'],
    [
      'reserved ranges',
      [subnets(Array(1024).fill('10.0.0.0/8'))],
      [subnets(Array(1025).fill('10.0.0.0/8'))],
      'at most 1024',
    ],
    ['a range', [subnets([longName(64)])], [subnets([longName(65)])], 'a subnet that is none'],
    ['a node name', [nodename(longName(253))], [nodename(longName(254))], 'more than 253'],
    ['a host name', [hostname(longName(253), '')], [hostname(longName(254), '')], 'more than 253'],
    ['a domain', [hostname('a', longName(253))], [hostname('a', longName(254))], 'more than 253'],
    [
      'a platform name',
      [platform('', longName(253), '')],
      [platform('', longName(254), '')],
      'more than 253',
    ],
    ['node name present', [nodename('a')], [nodename('')], 'has no nodename'],
    ['host name present', [hostname('a', '')], [hostname('', 'a')], 'has no hostname'],
    ['a printable name', [nodename('MY_Node_é')], [nodename('a\nb')], 'control characters'],
    ['a name without blanks', [hostname('a', 'b')], [hostname('a', 'b c')], 'blanks'],
    ['an IPv4 address', [nodeIp(ip(10, 5, 0, 1))], [nodeIp(ip(10, 5, 0))], 'of 3 bytes'],
    ['an address', [nodeIp(ip(10, 5, 0, 1))], [nodeIp(ip())], 'of 0 bytes'],
    [
      'an IPv6 address without a zone',
      [nodeIp(new Uint8Array(16))],
      [nodeIp(Buffer.from(`${'\0'.repeat(16)}eth0`))],
      'of 20 bytes',
    ],
    [
      'an external address',
      [address('external/x', ip(1, 2, 3, 4), 'external')],
      [address('external/x', ip(1, 2, 3, 4, 5), 'external')],
      'of 5 bytes',
    ],
    [
      'a payload',
      [nodename('a')],
      [wireResource('k8s', 'Nodenames.kubernetes.talos.dev', 'nodename', ip(0x0f))],
      'cannot be decoded',
    ],
  ];

  it.each(cases)(
    '%s: the last that fits, and the first that does not',
    async (_, fits, exceeds, says) => {
      await expect(facts(...fits)).resolves.toBeDefined();
      await expect(facts(...exceeds)).rejects.toMatchObject({
        name: 'CallFailure',
        code: 'protocol',
        message: expect.stringContaining(says),
      });
    },
  );

  it('a list: as many entries as a node can have, and one more', async () => {
    const spec = specs.addressStatus.encode({ address: null, linkName: 'kube-ipvs0' });
    const listed = (count: number): ResourceReader => ({
      ...readerOf(nodeResources(node)),
      async *list(query) {
        for (let index = 0; index < count; index += 1) {
          yield checkedResource(
            wireResource(query.namespace, query.type, `a/${index}`, spec),
            query,
          );
        }
      },
    });
    await expect(gatherNodeFacts(listed(16_384), false)).resolves.toBeDefined();
    await expect(gatherNodeFacts(listed(16_385), false)).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('more entries than any node can have'),
    });
  });
});
