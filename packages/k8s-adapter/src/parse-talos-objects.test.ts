import { describe, expect, it } from 'vitest';
import type { KubeObject } from './kube-object.ts';
import { parseTalosCluster } from './parse-talos-cluster.ts';
import { parseTalosMachine } from './parse-talos-machine.ts';

const metadata = {
  name: 'lab',
  namespace: 'ichor-system',
  uid: 'u-1',
  generation: 3,
  resourceVersion: '42',
};
const identity = { ...metadata };

const stored = (spec: unknown, status?: unknown): KubeObject => ({
  metadata,
  spec,
  ...(status === undefined ? {} : { status }),
});
const certificates = (fields: object) => ({ security: { kubeletServingCertificates: fields } });
const machineSpec = {
  clusterRef: { name: 'lab' },
  machineType: 'worker',
  address: '10.5.0.11',
  hostname: 'worker-1',
};

/** The sentence about what is wrong; `valid` where nothing is. */
function problem(parsed: ReturnType<typeof parseTalosCluster | typeof parseTalosMachine>): string {
  return parsed.kind === 'invalid' ? parsed.value.problem : 'valid';
}

describe('a TalosCluster', () => {
  const off = {
    talos: { contract: undefined, endpoints: [], talosconfigSecret: undefined },
    kubernetes: { version: undefined, endpoint: undefined, kubeconfigSecret: undefined },
    servingCertificates: {
      enabled: false,
      verifyFromAPIServer: false,
      unknownNames: 'Deny',
      maxExpirationSeconds: undefined,
      extraDNSNames: [],
      extraSubnets: [],
      probe: true,
    },
    reserved: { dnsNames: [], ipAddresses: [], subnets: [] },
    configManagement: 'Render',
  };

  it.each([
    ['nothing', {}],
    ['no certificates', { security: {} }],
    ['certificates without fields', certificates({})],
    ['nulls', { talos: null, kubernetes: null, security: null, reserved: null }],
    ['nulls deeper down', certificates({ enabled: null, extraSubnets: null, probe: null })],
    ['fields that nobody knows', { future: true, security: { future: 1 } }],
  ])('that says %s is switched off, with every default', (_name, spec) => {
    expect(parseTalosCluster(stored(spec))).toEqual({
      kind: 'valid',
      value: {
        ...identity,
        spec: off,
        status: { observedGeneration: undefined, machines: undefined, conditions: [] },
      },
    });
  });

  it('that says everything is taken as it is', () => {
    const parsed = parseTalosCluster(
      stored({
        talos: {
          contract: 'v1.14',
          endpoints: ['10.5.0.2', 'cp.lab.example:50000'],
          talosconfigSecretRef: { name: 'lab-talos' },
        },
        kubernetes: {
          version: 'v1.37.2',
          endpoint: 'https://10.5.0.100:6443',
          kubeconfigSecretRef: { name: 'lab-kube' },
        },
        ...certificates({
          enabled: true,
          verifyFromAPIServer: true,
          unknownNames: 'Pending',
          maxExpirationSeconds: 86_400,
          extraDNSNames: ['Node.lab.example.'],
          extraSubnets: ['10.6.0.0/16', 'fd00:6::/64'],
          probe: false,
        }),
        reserved: {
          dnsNames: ['api.lab.example'],
          ipAddresses: ['10.5.0.100', 'fd00::1'],
          subnets: ['10.96.0.0/12'],
        },
        configManagement: 'Apply',
      }),
    );
    expect(parsed).toMatchObject({
      kind: 'valid',
      value: {
        spec: {
          talos: {
            contract: 'v1.14',
            endpoints: ['10.5.0.2', 'cp.lab.example:50000'],
            talosconfigSecret: 'lab-talos',
          },
          kubernetes: {
            version: 'v1.37.2',
            endpoint: 'https://10.5.0.100:6443',
            kubeconfigSecret: 'lab-kube',
          },
          servingCertificates: {
            enabled: true,
            verifyFromAPIServer: true,
            unknownNames: 'Pending',
            maxExpirationSeconds: 86_400,
            extraDNSNames: ['Node.lab.example.'],
            extraSubnets: ['10.6.0.0/16', 'fd00:6::/64'],
            probe: false,
          },
          reserved: {
            dnsNames: ['api.lab.example'],
            ipAddresses: ['10.5.0.100', 'fd00::1'],
            subnets: ['10.96.0.0/12'],
          },
          configManagement: 'Apply',
        },
      },
    });
  });

  const at = 'spec.security.kubeletServingCertificates';
  it.each<[string, string, unknown, unknown]>([
    ['spec', 'must be an object', 'text', {}],
    ['spec.talos', 'must be an object', { talos: [] }, { talos: {} }],
    [
      `${at}.enabled`,
      'must be true or false',
      certificates({ enabled: 'true' }),
      certificates({ enabled: true }),
    ],
    [
      `${at}.verifyFromAPIServer`,
      'must be false while enabled is false',
      certificates({ verifyFromAPIServer: true }),
      certificates({ verifyFromAPIServer: true, enabled: true }),
    ],
    [
      `${at}.unknownNames`,
      'must be Deny or Pending',
      certificates({ unknownNames: 'deny' }),
      certificates({ unknownNames: 'Deny' }),
    ],
    [
      `${at}.maxExpirationSeconds`,
      'must be at least 600 seconds',
      certificates({ maxExpirationSeconds: 599 }),
      certificates({ maxExpirationSeconds: 600 }),
    ],
    [
      `${at}.maxExpirationSeconds`,
      'must be a whole number of seconds',
      certificates({ maxExpirationSeconds: 600.5 }),
      certificates({ maxExpirationSeconds: 601 }),
    ],
    [
      `${at}.extraDNSNames[1]`,
      'must be a DNS name',
      certificates({ extraDNSNames: ['a.example', '*.example'] }),
      certificates({ extraDNSNames: ['a.example', 'x.example'] }),
    ],
    [
      `${at}.extraDNSNames[0]`,
      'must be a DNS name',
      certificates({ extraDNSNames: ['10.5.0.1'] }),
      certificates({ extraDNSNames: ['10.5.0.1.example'] }),
    ],
    [
      `${at}.extraDNSNames[0]`,
      'is reserved for Kubernetes',
      certificates({ extraDNSNames: ['Kubernetes.default.'] }),
      certificates({ extraDNSNames: ['kubernetes-1.example'] }),
    ],
    [
      `${at}.extraSubnets[0]`,
      'must be a subnet',
      certificates({ extraSubnets: ['0.0.0.0/0'] }),
      certificates({ extraSubnets: ['0.0.0.0/1'] }),
    ],
    [
      `${at}.extraSubnets[0]`,
      'must be a subnet',
      certificates({ extraSubnets: ['10.0.0.0/33'] }),
      certificates({ extraSubnets: ['10.0.0.0/32'] }),
    ],
    [
      `${at}.extraSubnets[0]`,
      'must be a subnet',
      certificates({ extraSubnets: ['10.0.0.0'] }),
      certificates({ extraSubnets: ['fd00::/128'] }),
    ],
    [
      'spec.reserved.subnets[0]',
      'must be a subnet',
      { reserved: { subnets: ['10.0.0.0/08'] } },
      { reserved: { subnets: ['10.0.0.0/8'] } },
    ],
    [
      'spec.reserved.ipAddresses[0]',
      'must be an IP address',
      { reserved: { ipAddresses: ['fe80::1%eth0'] } },
      { reserved: { ipAddresses: ['fe80::1'] } },
    ],
    [
      'spec.reserved.dnsNames',
      'must be a list',
      { reserved: { dnsNames: 'a' } },
      { reserved: { dnsNames: ['a'] } },
    ],
    [
      'spec.kubernetes.endpoint',
      'must be an https URL',
      { kubernetes: { endpoint: 'http://10.5.0.100:6443' } },
      { kubernetes: { endpoint: 'https://10.5.0.100:6443' } },
    ],
    [
      'spec.kubernetes.endpoint',
      'must be an https URL',
      { kubernetes: { endpoint: '10.5.0.100:6443' } },
      { kubernetes: { endpoint: 'https://[fd00::1]' } },
    ],
    [
      'spec.talos.talosconfigSecretRef',
      'is required where kubernetes.kubeconfigSecretRef is given',
      { kubernetes: { kubeconfigSecretRef: { name: 'k' } } },
      {
        kubernetes: { kubeconfigSecretRef: { name: 'k' } },
        talos: { talosconfigSecretRef: { name: 't' } },
      },
    ],
    [
      'spec.talos.talosconfigSecretRef.name',
      'must be the name of an object',
      { talos: { talosconfigSecretRef: { name: '' } } },
      { talos: { talosconfigSecretRef: { name: 't' } } },
    ],
    [
      'spec.talos.contract',
      'must be a version contract',
      { talos: { contract: '1.14' } },
      { talos: { contract: 'v1.14' } },
    ],
    [
      'spec.talos.endpoints[0]',
      'must be text',
      { talos: { endpoints: [7] } },
      { talos: { endpoints: ['7'] } },
    ],
    [
      'spec.talos.endpoints[0]',
      'must not be empty',
      { talos: { endpoints: [''] } },
      { talos: { endpoints: ['a'] } },
    ],
    [
      'spec.configManagement',
      'must be Render or Apply',
      { configManagement: 'apply' },
      { configManagement: 'Apply' },
    ],
  ])('names %s, which %s', (field, what, wrong, right) => {
    const sentence = problem(parseTalosCluster(stored(wrong)));
    expect(sentence).toContain(`TalosCluster ichor-system/lab: ${field} `);
    expect(sentence).toContain(what);
    expect(sentence).toMatch(/; correct the field\.$/);
    expect(sentence).not.toContain('Invalid input');
    expect(problem(parseTalosCluster(stored(right)))).toBe('valid');
  });

  it('that is not usable keeps its identity, so that it can be told apart', () => {
    const parsed = parseTalosCluster(stored({ configManagement: 1 }));
    expect(parsed).toMatchObject({ kind: 'invalid', value: identity });
  });

  it('has of its status what can be read, and nothing is wrong with the rest', () => {
    const condition = {
      type: 'KubeletServingCertificates',
      status: 'True',
      reason: 'AllCertified',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 2,
    };
    const status = {
      observedGeneration: 2,
      machines: { total: 3, certified: 1 },
      conditions: [condition],
    };
    const parsed = parseTalosCluster(stored({}, status));
    expect(parsed).toMatchObject({ kind: 'valid', value: { status } });
    const garbage = {
      observedGeneration: 'x',
      machines: { total: 3 },
      conditions: [{ type: 'A' }, 7, { ...condition, observedGeneration: null }],
    };
    const { observedGeneration: _, ...rest } = condition;
    for (const given of [garbage, { conditions: [rest] }]) {
      expect(parseTalosCluster(stored({}, given))).toMatchObject({
        kind: 'valid',
        value: {
          status: { observedGeneration: undefined, machines: undefined, conditions: [rest] },
        },
      });
    }
    for (const given of ['text', null, []]) {
      const parsedAnyway = parseTalosCluster(stored({}, given));
      expect(parsedAnyway).toMatchObject({ kind: 'valid', value: { status: { conditions: [] } } });
    }
  });
});

describe('a TalosMachine', () => {
  it('is taken as it is', () => {
    expect(parseTalosMachine(stored(machineSpec))).toEqual({
      kind: 'valid',
      value: {
        ...identity,
        spec: {
          cluster: 'lab',
          machineType: 'worker',
          address: '10.5.0.11',
          hostname: 'worker-1',
        },
        status: { nodeName: undefined, identity: undefined, kubeletServingCertificate: undefined },
      },
    });
  });

  it.each<[string, string, object, object]>([
    ['spec.clusterRef', 'is required', { clusterRef: undefined }, {}],
    [
      'spec.clusterRef.name',
      'must be the name of an object',
      { clusterRef: { name: '' } },
      { clusterRef: { name: 'x' } },
    ],
    [
      'spec.machineType',
      'must be controlplane or worker',
      { machineType: 'master' },
      { machineType: 'controlplane' },
    ],
    ['spec.machineType', 'is required', { machineType: undefined }, { machineType: 'worker' }],
    [
      'spec.address',
      'must be an IP address or a DNS name',
      { address: '' },
      { address: 'fd00::11' },
    ],
    [
      'spec.address',
      'must be an IP address or a DNS name',
      { address: '10.5.0.11:50000' },
      { address: 'worker-1.lab.example' },
    ],
    ['spec.hostname', 'must be a DNS name', { hostname: 'worker 1' }, { hostname: undefined }],
  ])('names %s, which %s', (field, what, wrong, right) => {
    const sentence = problem(parseTalosMachine(stored({ ...machineSpec, ...wrong })));
    expect(sentence).toContain(`TalosMachine ichor-system/lab: ${field} `);
    expect(sentence).toContain(what);
    expect(problem(parseTalosMachine(stored({ ...machineSpec, ...right })))).toBe('valid');
  });

  it('without a spec is not usable', () => {
    expect(problem(parseTalosMachine({ metadata }))).toContain('spec is required: an object');
  });

  it('has its status part by part: one that cannot be read is as good as absent', () => {
    const whole = {
      nodeName: 'worker-1',
      identity: {
        observedAt: '2026-01-01T00:00:00Z',
        dnsNames: [{ value: 'worker-1', source: 'Nodename' }],
        ipAddresses: [{ value: '10.5.0.11', source: 'NodeIP' }],
        reserved: ['10.96.0.0/12'],
      },
      kubeletServingCertificate: {
        request: 'csr-1',
        issuedAt: '2026-01-01T00:00:00Z',
        notAfter: '2027-01-01T00:00:00Z',
        dnsNames: ['worker-1'],
        ipAddresses: ['10.5.0.11'],
        fingerprint: 'ab',
        adopted: false,
      },
    };
    const statusOf = (status: unknown) => {
      const parsed = parseTalosMachine(stored(machineSpec, status));
      return parsed.kind === 'valid' ? parsed.value.status : parsed;
    };
    expect(statusOf(whole)).toEqual(whole);
    expect(statusOf({ ...whole, identity: { observedAt: 7 } })).toEqual({
      ...whole,
      identity: undefined,
    });
    expect(statusOf({ ...whole, nodeName: '' })).toEqual({ ...whole, nodeName: undefined });
    const { fingerprint: _, ...partial } = whole.kubeletServingCertificate;
    expect(statusOf({ ...whole, kubeletServingCertificate: partial })).toEqual({
      ...whole,
      kubeletServingCertificate: undefined,
    });
    const { reserved: __, ...worker } = whole.identity;
    expect(statusOf({ identity: worker })).toEqual({
      nodeName: undefined,
      identity: { ...worker, reserved: undefined },
      kubeletServingCertificate: undefined,
    });
  });
});
