import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deployFiles } from './deploy-files.ts';

const folder = new URL('../../../operator/deploy/', import.meta.url);

describe('packages/operator/deploy', () => {
  const files = deployFiles();

  it('holds every generated file', () => {
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(Object.keys(files)));
  });

  it.each(Object.entries(files))('%s is what "npm run deploy:update" writes', (name, text) => {
    expect(readFileSync(new URL(name, folder), 'utf8')).toBe(text);
  });
});
