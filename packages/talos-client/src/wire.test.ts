import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ipText } from './ip-text.ts';
import { getCall, listCall, specs, versionCall, watchCall } from './wire.ts';

// What a server built from COSI's and Talos's own code received and answered.
interface RecordedCall {
  readonly name: string;
  readonly method: string;
  readonly requestHex: string;
  readonly responseHex: readonly string[];
  readonly protoSpecHex?: string;
  readonly yamlSpec?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const file = new URL('../testdata/talos-wire.json', import.meta.url);
const { entries } = JSON.parse(readFileSync(file, 'utf8')) as { entries: RecordedCall[] };

function recorded(name: string): RecordedCall {
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) {
    throw new Error(`no recorded call ${name}`);
  }
  return entry;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => Buffer.from(text, 'hex');

const k8s = (type: string, id: string) => ({
  namespace: 'k8s',
  type: `${type}.kubernetes.talos.dev`,
  id,
});
const externalId = 'external/203.0.113.21/32';
const addressStatuses = { namespace: 'network', type: 'AddressStatuses.net.talos.dev' };

const gets = {
  NodeIP: k8s('NodeIPs', 'kubelet'),
  Nodename: k8s('Nodenames', 'nodename'),
  NodeIPConfig: k8s('NodeIPConfigs', 'kubelet'),
  HostnameStatus: {
    namespace: 'network',
    type: 'HostnameStatuses.net.talos.dev',
    id: 'hostname',
  },
  'AddressStatus external': { ...addressStatuses, id: externalId },
  PlatformMetadata: {
    namespace: 'runtime',
    type: 'PlatformMetadatas.talos.dev',
    id: 'platformmetadata',
  },
  'not found': k8s('NodeIPs', 'nope'),
};

describe('requests', () => {
  it.each(Object.entries(gets))('Get %s has the recorded bytes', (name, query) => {
    expect(hex(getCall.encodeRequest(query))).toBe(recorded(name).requestHex);
  });

  const nodeIpWatch = { ...k8s('NodeIPs', 'kubelet'), apiVersion: 1 } as const;
  const absentWatch = { ...k8s('NodeIPs', 'nope'), apiVersion: 1 } as const;
  const kindWatch = {
    namespace: 'k8s',
    type: 'NodeIPs.kubernetes.talos.dev',
    options: { bootstrapContents: true },
    apiVersion: 1,
  } as const;
  it.each([
    ['List AddressStatus', listCall.path, listCall.encodeRequest(addressStatuses)],
    ['Watch NodeIP', watchCall.path, watchCall.encodeRequest(nodeIpWatch)],
    ['Watch NodeIP absent', watchCall.path, watchCall.encodeRequest(absentWatch)],
    ['Watch kind', watchCall.path, watchCall.encodeRequest(kindWatch)],
    ['MachineService.Version', versionCall.path, versionCall.encodeRequest({})],
  ])('%s has the recorded path and bytes', (name, path, bytes) => {
    expect(path).toBe(recorded(name).method);
    expect(hex(bytes)).toBe(recorded(name).requestHex);
  });
});

describe('answers', () => {
  it.each(Object.keys(gets).filter((name) => name !== 'not found'))(
    'Get %s decodes to the recorded resource',
    (name) => {
      const entry = recorded(name);
      const { resource } = getCall.decodeResponse(bytesOf(entry.responseHex[0] ?? ''));
      const { namespace, type, id, version, owner, phase } = entry.metadata ?? {};
      expect(resource?.metadata).toMatchObject({ namespace, type, id, version, owner, phase });
      expect(hex(resource?.spec?.protoSpec ?? new Uint8Array())).toBe(entry.protoSpecHex);
      expect(resource?.spec?.yamlSpec).toBe(entry.yamlSpec);
    },
  );

  it('lists one resource a message, in the order of ids', () => {
    const ids = recorded('List AddressStatus').responseHex.map(
      (text) => listCall.decodeResponse(bytesOf(text)).resource?.metadata?.id,
    );
    expect(ids).toStrictEqual(['eth0/10.5.0.21/24', 'eth0/fd00::21/64', externalId]);
  });

  const eventsOf = (name: string) =>
    recorded(name).responseHex.map((text) =>
      watchCall
        .decodeResponse(bytesOf(text))
        .event.map(({ eventType, resource }) => [eventType, resource?.metadata?.id]),
    );

  it('opens a watch with an empty message and tells what exists, absence as a tombstone', () => {
    expect(eventsOf('Watch NodeIP')).toStrictEqual([[], [['CREATED', 'kubelet']]]);
    expect(eventsOf('Watch NodeIP absent')).toStrictEqual([[], [['DESTROYED', 'nope']]]);
  });

  it('ends the initial contents of a watch on a type with BOOTSTRAPPED, which has no id', () => {
    expect(eventsOf('Watch kind')).toStrictEqual([
      [],
      [['CREATED', 'kubelet']],
      [['BOOTSTRAPPED', '']],
    ]);
  });

  it('reads the version and the platform', () => {
    const answer = recorded('MachineService.Version').responseHex[0] ?? '';
    expect(versionCall.decodeResponse(bytesOf(answer)).messages).toMatchObject([
      { version: { tag: 'v1.14.1', arch: 'amd64' }, platform: { name: 'metal', mode: 'metal' } },
    ]);
  });
});

describe('payloads', () => {
  const payload = (name: string) => bytesOf(recorded(name).protoSpecHex ?? '');

  it('NodeIP holds addresses of 4 and of 16 bytes', () => {
    const { addresses } = specs.nodeIp.decode(payload('NodeIP'));
    expect(addresses.map(({ ip }) => ipText(ip))).toStrictEqual(['10.5.0.21', 'fd00::21']);
  });

  it('Nodename and HostnameStatus hold different names', () => {
    expect(specs.nodename.decode(payload('Nodename')).nodename).toBe('my-node');
    expect(specs.hostnameStatus.decode(payload('HostnameStatus'))).toStrictEqual({
      hostname: 'MY_Node_',
      domainname: 'example.org',
    });
  });

  it('AddressStatus holds a prefix and its link', () => {
    const spec = specs.addressStatus.decode(payload('AddressStatus external'));
    expect(spec.linkName).toBe('external');
    expect(spec.address?.prefixLength).toBe(32);
    expect(ipText(spec.address?.ip ?? new Uint8Array())).toBe('203.0.113.21');
  });

  it('PlatformMetadata holds the names a cloud gave', () => {
    expect(specs.platformMetadata.decode(payload('PlatformMetadata'))).toStrictEqual({
      platform: 'stage',
      hostname: 'w1.cloud',
      internalDns: 'w1.internal',
      externalDns: 'w1.example.com',
    });
  });

  it('NodeIPConfig holds ranges, and VIPs as bare addresses', () => {
    expect(specs.nodeIpConfig.decode(payload('NodeIPConfig'))).toStrictEqual({
      validSubnets: [],
      excludeSubnets: ['10.244.0.0/16', '10.96.0.0/12', '10.5.0.100'],
    });
  });

  it('an empty payload is a message of defaults', () => {
    expect(specs.nodeIp.decode(new Uint8Array())).toStrictEqual({ addresses: [] });
    expect(specs.nodename.decode(new Uint8Array())).toStrictEqual({ nodename: '' });
  });
});
