import type { InMemoryNode } from '@ichor/talos-client/testing';

/** Name of the demonstration's cluster. */
export const demoClusterName = 'lab';

/** The cluster of the demonstration: one control plane, whose address is the endpoint. */
export const demoClusterSpec = {
  talos: { contract: 'v1.14', endpoints: ['10.5.0.2'] },
  kubernetes: { version: 'v1.37.2', endpoint: 'https://10.5.0.2:6443' },
  security: { kubeletServingCertificates: { enabled: true } },
} as const;

/** A machine of the demonstration: what the inventory says, and what the node says. */
export interface DemoMachine {
  readonly name: string;
  readonly machineType: 'controlplane' | 'worker';
  readonly address: string;
  /** Undefined: the node does not answer. */
  readonly node: InMemoryNode | undefined;
}

const domainname = 'lab.example';

/** Five machines; the last one does not answer. */
export const demoMachines: readonly DemoMachine[] = [
  {
    name: 'cp-1',
    machineType: 'controlplane',
    address: '10.5.0.2',
    node: {
      nodeName: 'cp-1',
      domainname,
      nodeIps: ['10.5.0.2'],
      // Pod and service ranges, and a VIP.
      excludeSubnets: ['10.244.0.0/16', '10.96.0.0/12', '10.5.0.100'],
    },
  },
  {
    name: 'worker-1',
    machineType: 'worker',
    address: '10.5.0.11',
    node: { nodeName: 'worker-1', domainname, nodeIps: ['10.5.0.11', 'fd00:5::11'] },
  },
  {
    name: 'worker-2',
    machineType: 'worker',
    address: '10.5.0.12',
    node: {
      nodeName: 'worker-2',
      domainname,
      nodeIps: ['10.5.0.12'],
      externalAddresses: ['203.0.113.12'],
      platformNames: ['worker-2.cloud.example'],
    },
  },
  {
    name: 'worker-3',
    machineType: 'worker',
    address: '10.5.0.13',
    node: { nodeName: 'worker-3', domainname, nodeIps: ['10.5.0.13'] },
  },
  { name: 'worker-4', machineType: 'worker', address: '10.5.0.14', node: undefined },
];
