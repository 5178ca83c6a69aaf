import { describe, expect, it } from 'vitest';
import { canonicalAddress, canonicalName, canonicalSubnet } from './name-text.ts';

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

describe('canonicalSubnet', () => {
  it.each([
    ['10.96.0.0/12', '10.96.0.0/12'],
    ['FD00::/64', 'fd00::/64'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ])('%s is %s', (text, canonical) => expect(canonicalSubnet(text)).toBe(canonical));

  it.each(['10.96.0.0', '10.96.0.0/33', '10.96.0.0/012', 'fd00::/129', 'a/8', '10.0.0.0/'])(
    '%j is no CIDR',
    (text) => expect(canonicalSubnet(text)).toBeUndefined(),
  );
});

describe('canonicalName', () => {
  it('folds ASCII letters and drops one final dot', () => {
    expect(canonicalName('Worker-1.LAB.example.')).toBe('worker-1.lab.example');
    expect(canonicalName('a..')).toBe('a.');
  });
});
