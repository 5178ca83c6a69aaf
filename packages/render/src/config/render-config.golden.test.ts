import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { goldenCases, goldenContracts, goldenText } from '../testing/golden-files.ts';

const folder = new URL('../../testdata/', import.meta.url);
const cases = goldenCases();
const contractFolder = /^v[0-9]/;

describe('packages/render/testdata', () => {
  it('has a folder for each contract that is known, and no other', () => {
    expect(readdirSync(folder).filter((name) => contractFolder.test(name))).toEqual(
      goldenContracts,
    );
    expect(goldenContracts).toEqual(['v1.11', 'v1.12', 'v1.13', 'v1.14', 'v1.15']);
  });

  it.each(goldenContracts)('of %s holds a file for each case, and no other', (contract) => {
    const expected = cases.filter((one) => one.contract === contract).map(({ file }) => file);
    const found = readdirSync(new URL(`${contract}/`, folder)).map((name) => `${contract}/${name}`);
    expect(found.toSorted()).toEqual(expected.toSorted());
    expect(expected).toHaveLength(24);
  });

  it.each(cases)('$file is what "npm run test:golden:update" writes', (one) => {
    const text = readFileSync(new URL(one.file, folder), 'utf8');
    expect(goldenText(one)).toBe(text);
    expect(text).not.toContain('refused');
    expect(text).not.toContain('rotate-server-certificates');
  });

  it.each(cases.filter(({ file }) => !file.includes('/verified-')))(
    '$file never makes the API server verify, because the cluster is not verified',
    ({ file }) => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      expect(text).not.toContain('/system/secrets/');
    },
  );

  it('makes it verify on the control planes of a verified cluster', () => {
    const files = cases.filter(({ file }) => file.includes('/verified-controlplane'));
    expect(files).toHaveLength(10);
    for (const { file } of files) {
      expect(readFileSync(new URL(file, folder), 'utf8')).toContain(
        'kubelet-certificate-authority: /system/secrets/kubernetes/kube-apiserver/ca.crt',
      );
    }
  });
});
