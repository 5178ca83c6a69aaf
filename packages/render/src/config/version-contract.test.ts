import { describe, expect, it } from 'vitest';
import {
  contractText,
  hasKubernetesDocuments,
  newestContract,
  parseContract,
} from './version-contract.ts';

describe('parseContract', () => {
  it.each([
    ['v1.14', { major: 1, minor: 14 }],
    ['1.14', { major: 1, minor: 14 }],
    ['v1.14.0-alpha.1', { major: 1, minor: 14 }],
    ['v1.13.9', { major: 1, minor: 13 }],
    ['v01.014', { major: 1, minor: 14 }],
    ['v0.0', newestContract],
  ])('reads %s as Talos does', (text, contract) => {
    expect(parseContract(text)).toEqual(contract);
  });

  it.each(['', 'v1', 'v1.', 'v1.14-rc', 'vv1.14', 'V1.14', ' v1.14', 'v1.14\n', 'v1.x', 'v-1.2'])(
    'refuses %j as Talos does',
    (text) => {
      expect(parseContract(text)).toBeUndefined();
    },
  );

  it('is undone by contractText', () => {
    expect(parseContract(contractText({ major: 1, minor: 12 }))).toEqual({ major: 1, minor: 12 });
  });
});

describe('hasKubernetesDocuments', () => {
  it.each([
    [1, 13, false],
    [1, 14, true],
    [2, 0, true],
    [0, 99, false],
  ])('of %d.%d is %s', (major, minor, has) => {
    expect(hasKubernetesDocuments({ major, minor })).toBe(has);
  });
});
