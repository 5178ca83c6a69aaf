import { KubeError } from '@ichor/k8s-adapter';
import {
  issueCertificate,
  makeCertificateAuthority,
  talosconfigText,
} from '@ichor/talos-client/testing';
import { describe, expect, it } from 'vitest';
import { OperatorWorld, type WorldOptions } from '../testing/operator-world.ts';

const ca = makeCertificateAuthority();
const { crt, key } = issueCertificate(ca, { subject: { organizations: ['os:reader'] } });
const config = talosconfigText({ endpoints: ['10.5.0.2'], ca: ca.crt, crt, key });

/** A world whose cluster is reached with credentials out of Secrets, already at work. */
async function startedFromSecrets(options: WorldOptions = {}): Promise<OperatorWorld> {
  const world = new OperatorWorld({
    ...options,
    spec: {
      talos: { talosconfigSecretRef: { name: 'lab-talos' } },
      kubernetes: {
        endpoint: 'https://api.lab.example:6443',
        kubeconfigSecretRef: { name: 'lab-kube' },
      },
    },
  });
  world.kubernetes.setSecret('lab-talos', { config });
  world.kubernetes.setSecret('lab-kube', { kubeconfig: 'of lab' });
  world.start();
  await world.run(1_000);
  return world;
}

describe('a cluster whose kubeconfig is in a Secret', () => {
  it('is decided for while the Secret is there, and no longer once it was taken away', async () => {
    const world = await startedFromSecrets();
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    await world.run(1_000);
    expect(world.outcome('csr-1')).toBe('Approved IchorKubeletServing');

    world.kubernetes.deleteSecret('lab-kube');
    await world.run(70_000);
    world.request('csr-2', 'worker-2', ['10.5.0.12']);
    await world.run(10_000);
    expect(world.outcome('csr-2')).toBeUndefined();
    expect(world.clusterCondition('Operational')).toMatchObject({
      status: 'False',
      reason: 'KubernetesCredentialsUnusable',
      message: expect.stringContaining('lab-kube'),
    });

    world.kubernetes.setSecret('lab-kube', { kubeconfig: 'of lab' });
    await world.run(70_000);
    expect(world.outcome('csr-2')).toBe('Approved IchorKubeletServing');
  });

  it('is decided for by the present inventory while the Secret cannot be read for a time', async () => {
    let unavailable = false;
    const world = await startedFromSecrets({
      intercept: ({ operation }) => {
        if (operation === 'readSecret' && unavailable) {
          throw new KubeError('unavailable', 'The API server does not answer.');
        }
      },
    });
    unavailable = true;
    await world.run(70_000);
    world.kubernetes.deleteMachine('worker-1');
    await world.run(1_000);
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    world.request('csr-2', 'worker-2', ['10.5.0.12']);
    await world.run(5_000);
    expect(world.logged('csr-1')).toEqual(['NodeNotManaged']);
    expect(world.outcome('csr-1')).toBeUndefined();
    expect(world.outcome('csr-2')).toBe('Approved IchorKubeletServing');
  });

  it('is not decided for once it is switched off or deleted, however long a call may take', async () => {
    for (const end of ['off', 'deleted'] as const) {
      let isSlow = false;
      const world = await startedFromSecrets({
        intercept: ({ operation }) =>
          operation === 'readSecret' && isSlow ? new Promise(() => undefined) : undefined,
      });
      isSlow = true;
      await world.run(70_000);
      if (end === 'off') world.setOptions({ enabled: false });
      else world.kubernetes.deleteCluster('lab');
      await world.run(100);
      world.request('csr-1', 'worker-1', ['10.5.0.11']);
      await world.run(5_000);
      expect(world.outcome('csr-1'), end).toBeUndefined();
    }
  });
});

describe('two clusters with one API server', () => {
  it('decide nothing from the start', async () => {
    const world = new OperatorWorld();
    world.kubernetes.createCluster('twin', {
      security: { kubeletServingCertificates: { enabled: true } },
    });
    world.request('csr-1', 'worker-1', ['10.5.0.11']);
    world.start();
    await world.run(5_000);
    expect(world.outcome('csr-1')).toBeUndefined();
  });
});
