import { get } from 'node:http';
import { join } from 'node:path';
import { freePort } from './network-namespace.ts';
import { type PartProcess, startPart } from './part-process.ts';

/** A running etcd that forgets everything with its directory. */
export type Etcd = { readonly url: string; readonly process: PartProcess; ready(): Promise<void> };

/** Starts a single etcd on loopback, without TLS and without syncing to disk. */
export async function startEtcd(binary: string, directory: string, log: string): Promise<Etcd> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const process = startPart({
    name: 'etcd',
    command: binary,
    log,
    args: [
      '--name=testbed',
      `--data-dir=${join(directory, 'etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=testbed=${peerUrl}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
  });
  return { url, process, ready: () => process.ready(() => isHealthy(url)) };
}

function isHealthy(url: string): Promise<boolean> {
  return new Promise((done) => {
    const asked = get(`${url}/health`, { timeout: 1_000 }, (response) => {
      response.resume();
      done(response.statusCode === 200);
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => done(false));
  });
}
