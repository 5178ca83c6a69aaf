import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TalosconfigError } from './talosconfig-error.ts';
import { talosconfigFile } from './talosconfig-file.ts';
import { fakeClusterCertificates } from './testing/fake-cluster.ts';
import { talosconfigText } from './testing/talosconfig-text.ts';

const cluster = fakeClusterCertificates();
const [first, second] = [cluster.access('10.5.0.2'), cluster.access('10.5.0.2')];

describe('talosconfigFile', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'talosconfig-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('gives the same material while the file is the same', async () => {
    const path = join(directory, 'config');
    await writeFile(path, talosconfigText(first));
    const source = talosconfigFile(path);
    expect(await source.current()).toStrictEqual(first);
    expect(await source.current()).toStrictEqual(first);
  });

  it('follows a file that is written anew with the same size', async () => {
    const path = join(directory, 'config');
    await writeFile(path, talosconfigText(first));
    const source = talosconfigFile(path);
    await source.current();
    await writeFile(path, talosconfigText(second));
    expect(await source.current()).toStrictEqual(second);
  });

  it('follows a mounted Secret, whose directory is swapped behind a symbolic link', async () => {
    for (const [name, access] of [
      ['one', first],
      ['two', second],
    ] as const) {
      await writeFile(join(directory, name), talosconfigText(access));
    }
    const path = join(directory, 'config');
    await symlink('one', path);
    const source = talosconfigFile(path);
    expect(await source.current()).toStrictEqual(first);
    await symlink('two', join(directory, 'next'));
    await rename(join(directory, 'next'), path);
    expect(await source.current()).toStrictEqual(second);
  });

  it('fails while the new file is broken, and heals', async () => {
    const path = join(directory, 'config');
    await writeFile(path, talosconfigText(first));
    const source = talosconfigFile(path);
    await source.current();
    await writeFile(path, 'contexts: [');
    for (const _ of [1, 2]) {
      await expect(source.current()).rejects.toMatchObject({
        name: 'TalosconfigError',
        source: path,
        message: expect.stringContaining('is not YAML'),
      });
    }
    await writeFile(path, talosconfigText(second));
    expect(await source.current()).toStrictEqual(second);
  });

  it('says that a file is missing, then finds it', async () => {
    const path = join(directory, 'config');
    const source = talosconfigFile(path);
    await expect(source.current()).rejects.toThrow(TalosconfigError);
    await expect(source.current()).rejects.toThrow(`${path} does not exist`);
    await writeFile(path, talosconfigText(first));
    expect(await source.current()).toStrictEqual(first);
  });

  it('notices that a certificate expired in a file that did not change', async () => {
    const path = join(directory, 'config');
    await writeFile(path, talosconfigText(first));
    let now = new Date();
    const source = talosconfigFile(path, { now: () => now });
    expect(await source.current()).toStrictEqual(first);
    now = new Date(now.getTime() + 48 * 3_600_000);
    await expect(source.current()).rejects.toMatchObject({ field: 'contexts.lab.crt' });
  });

  it('uses the context it was told to use', async () => {
    const path = join(directory, 'config');
    await writeFile(path, talosconfigText(first, 'prod'));
    expect(await talosconfigFile(path, { contextName: 'prod' }).current()).toStrictEqual(first);
    await expect(talosconfigFile(path, { contextName: 'lab' }).current()).rejects.toMatchObject({
      field: 'contexts.lab',
    });
  });
});
