import { describe, expect, it } from 'vitest';
import { canonicalAddress, canonicalHost } from './name-text.ts';

describe('canonicalAddress', () => {
  it.each([
    ['10.5.0.1', '10.5.0.1'],
    ['FD00:0:0::1', 'fd00::1'],
    ['::ffff:10.5.0.1', '10.5.0.1'],
    ['::FFFF:0a05:0001', '10.5.0.1'],
  ])('%s is %s', (text, canonical) => expect(canonicalAddress(text)).toBe(canonical));

  it.each(['10.5.0', '010.5.0.1', 'fd00::1%eth0', 'host', '', '10.5.0.1/32'])(
    '%j is no address',
    (text) => expect(canonicalAddress(text)).toBeUndefined(),
  );
});

describe('canonicalHost', () => {
  it('folds names and spells addresses', () => {
    expect(canonicalHost('Worker-1.LAB.example.')).toBe('worker-1.lab.example');
    expect(canonicalHost('FD00::0001')).toBe('fd00::1');
  });
});
