import type { NodeIdentity, NodeReading } from '../identity/node-identity.ts';

/** The machine that the baseline request is about, in a small cluster with two others. */
export const baselineIdentity: NodeIdentity = {
  nodeName: 'worker-1',
  dnsNames: [
    { value: 'worker-1', source: 'Nodename' },
    { value: 'worker-1', source: 'HostnameStatus' },
    { value: 'worker-1.lab.example', source: 'HostnameStatus' },
  ],
  ipAddresses: [
    { value: '10.5.0.11', source: 'NodeIP' },
    { value: 'fd00:5::11', source: 'NodeIP' },
  ],
  subnets: [],
  reserved: {
    dnsNames: ['api.lab.example'],
    ipAddresses: ['10.5.0.100'],
    subnets: ['10.96.0.0/12', '10.244.0.0/16'],
  },
  others: [
    {
      machine: 'worker-2',
      dnsNames: [
        { value: 'worker-2', source: 'Nodename' },
        { value: 'worker-2.lab.example', source: 'HostnameStatus' },
      ],
      ipAddresses: [{ value: '10.5.0.12', source: 'NodeIP' }],
    },
    {
      machine: 'cp-1',
      dnsNames: [{ value: 'cp-1', source: 'Nodename' }],
      ipAddresses: [{ value: '10.5.0.2', source: 'NodeIP' }],
    },
  ],
};

/** That machine, read. */
export const baselineReading: NodeReading = { kind: 'read', identity: baselineIdentity };
