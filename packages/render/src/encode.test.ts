import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { encodeYaml } from './encode.ts';
import { installManifest } from './install/install-manifest.ts';

const read = (text: string, version: '1.1' | '1.2'): unknown[] =>
  parseAllDocuments(text, { version }).map((document) => document.toJS());

describe('encodeYaml', () => {
  const objects = installManifest({ image: 'ichor:test' });

  it.each(['1.1', '1.2'] as const)('is read back unchanged by a YAML %s reader', (version) => {
    expect(read(encodeYaml(objects), version)).toEqual(objects);
  });

  it('quotes what a YAML 1.1 reader would take for something else', () => {
    const tricky = [
      {
        on: 'off',
        no: 'yes',
        hex: '0x1f',
        octal: '0755',
        time: '12:30:00',
        version: '1.10',
        nothing: '~',
      },
    ];
    expect(read(encodeYaml(tricky), '1.1')).toEqual(tricky);
    expect(read(encodeYaml(tricky), '1.2')).toEqual(tricky);
  });

  it('writes an object that occurs twice twice, without aliases', () => {
    const shared = { a: 1 };
    expect(encodeYaml([{ one: shared, two: shared }])).toBe('one:\n  a: 1\ntwo:\n  a: 1\n');
  });

  it('separates documents and keeps the order of keys', () => {
    expect(encodeYaml([{ b: 1, a: 2 }, { c: 3 }])).toBe('b: 1\na: 2\n---\nc: 3\n');
  });

  it('does not fold long lines', () => {
    const text = 'word '.repeat(60).trim();
    expect(encodeYaml([{ text }])).toBe(`text: ${text}\n`);
  });

  it('writes the same text for the same objects', () => {
    expect(encodeYaml(installManifest({ image: 'ichor:test' }))).toBe(encodeYaml(objects));
  });
});
