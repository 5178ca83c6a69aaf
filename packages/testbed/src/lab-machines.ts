import { dnsEntry, ipEntry, type RequestChanges } from '@ichor/policy/testing';
import type { MachineSpec } from './operator-process.ts';
import type { TalosNodeFields, TalosNodeSpec } from './talos-nodes.ts';

/** The address that the control planes of the lab share. */
export const virtualAddress = '10.5.0.100';

/** What a control plane excludes from node addresses: pods, Services and the shared address. */
const excludeSubnets = ['10.244.0.0/16', '10.96.0.0/12', virtualAddress];

/** The Talos node that a machine of the lab is: honest, but for the fields that are given. */
export function labNode(machine: MachineSpec, fields: TalosNodeFields = {}): TalosNodeSpec {
  const { name, address, machineType = 'worker' } = machine;
  return {
    name,
    address,
    machineType,
    nodename: name,
    hostname: name,
    domainname: 'lab.example',
    nodeIPs: [address, ipv6Of(address)],
    ...(machineType === 'controlplane' ? { excludeSubnets } : {}),
    ...fields,
  };
}

/** What the kubelet of such a machine asks for. */
export function honestRequest({ name, address }: MachineSpec): RequestChanges {
  return { nodeName: name, san: [dnsEntry(name), ipEntry(address), ipEntry(ipv6Of(address))] };
}

/** The IPv6 address that goes with an IPv4 address of the lab. */
function ipv6Of(address: string): string {
  return `fd00:5::${address.split('.').at(-1)}`;
}
