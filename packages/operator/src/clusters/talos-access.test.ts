import { KubeError } from '@ichor/k8s-adapter';
import {
  issueCertificate,
  makeCertificateAuthority,
  talosconfigText,
} from '@ichor/talos-client/testing';
import { describe, expect, it } from 'vitest';
import { virtualClock } from '../testing/virtual-clock.ts';
import { accessFromSecret } from './talos-access.ts';

const ca = makeCertificateAuthority();
const { crt, key } = issueCertificate(ca, { subject: { organizations: ['os:reader'] } });
const configWith = (endpoint: string) =>
  new Map([
    ['config', Buffer.from(talosconfigText({ endpoints: [endpoint], ca: ca.crt, crt, key }))],
  ]);

/** A Secret whose reads a test answers one by one. */
function secretInHand() {
  const waiting: {
    readonly resolve: (data: ReadonlyMap<string, Uint8Array>) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  let reads = 0;
  const clock = virtualClock(0);
  const source = accessFromSecret(
    {
      namespace: 'ichor-system',
      readSecret: () => {
        reads += 1;
        return new Promise((resolve, reject) => {
          waiting.push({ resolve, reject });
        });
      },
    },
    'lab-talos',
    clock,
  );
  const endpoints = async () => (await source.current()).endpoints;
  const next = () => {
    const first = waiting.shift();
    if (first === undefined) throw new Error('nobody reads the Secret');
    return first;
  };
  return { clock, endpoints, next, reads: () => reads };
}

describe('Talos credentials out of a Secret', () => {
  it('are read once however many ask at the same time, and again after a minute', async () => {
    const { clock, endpoints, next, reads } = secretInHand();
    const all = Promise.all([endpoints(), endpoints(), endpoints()]);
    next().resolve(configWith('10.5.0.2'));
    expect(await all).toEqual([['10.5.0.2'], ['10.5.0.2'], ['10.5.0.2']]);
    await clock.advance(59_999);
    expect(await endpoints()).toEqual(['10.5.0.2']);
    expect(reads()).toBe(1);

    await clock.advance(1);
    const renewed = endpoints();
    next().resolve(configWith('10.5.0.3'));
    expect(await renewed).toEqual(['10.5.0.3']);
    expect(reads()).toBe(2);
  });

  it('that are being read again hold up nobody for five minutes', async () => {
    const { clock, endpoints, next } = secretInHand();
    const first = endpoints();
    next().resolve(configWith('10.5.0.2'));
    await first;
    await clock.advance(60_000);
    const slow = endpoints();
    expect(await endpoints()).toEqual(['10.5.0.2']);

    await clock.advance(240_000);
    const tooOld = endpoints();
    next().resolve(configWith('10.5.0.3'));
    expect(await Promise.all([slow, tooOld])).toEqual([['10.5.0.3'], ['10.5.0.3']]);
  });

  it('that were taken away end with the read that finds out', async () => {
    const { clock, endpoints, next } = secretInHand();
    const first = endpoints();
    next().resolve(configWith('10.5.0.2'));
    await first;
    await clock.advance(60_000);
    const finding = endpoints();
    next().reject(new KubeError('notFound', 'Secret ichor-system/lab-talos is not there.'));
    await expect(finding).rejects.toThrow('Secret ichor-system/lab-talos is not there.');

    const after = [endpoints(), endpoints()];
    next().resolve(new Map());
    for (const asked of after) {
      await expect(asked).rejects.toThrow('Secret ichor-system/lab-talos has no key "config"');
    }
  });

  it('stay where the API server could not be asked', async () => {
    const { clock, endpoints, next } = secretInHand();
    const first = endpoints();
    next().resolve(configWith('10.5.0.2'));
    await first;
    await clock.advance(60_000);
    const failing = endpoints();
    next().reject(new KubeError('unavailable', 'The API server did not answer.'));
    await expect(failing).rejects.toThrow('The API server did not answer.');

    const again = endpoints();
    expect(await endpoints()).toEqual(['10.5.0.2']);
    next().resolve(configWith('10.5.0.2'));
    expect(await again).toEqual(['10.5.0.2']);
  });
});
