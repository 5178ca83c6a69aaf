import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixedAccess } from './access-source.ts';
import { createTalosClient } from './create-talos-client.ts';
import type { TalosAccess } from './talos-client.ts';
import { TalosError } from './talos-error.ts';
import { type IssuedCertificate, issueCertificate } from './testing/certificates.ts';
import { fakeClusterCertificates } from './testing/fake-cluster.ts';
import { type FakeTalosNode, startFakeTalosNode } from './testing/fake-talos-node.ts';
import { nodeResources } from './testing/node-resources.ts';
import { Started } from './testing/started.ts';

const cluster = fakeClusterCertificates();
const stranger = fakeClusterCertificates();
const resources = nodeResources({ nodeName: 'worker-1', nodeIps: ['10.5.0.11'] });
const { authority } = cluster;
const anHour = 3_600_000;

// Node warns once per process about an address as server name: whichever test is the first to do it.
const warnings: Error[] = [];
process.on('warning', (warning) => warnings.push(warning));

const started = new Started();
afterEach(() => started.stopAll());

// A control plane that would answer, so that falling through to it shows.
let cp: FakeTalosNode;
beforeEach(async () => {
  cp = await startNode(cluster.serverCertificate('127.0.0.1'));
});

async function startNode(certificate: IssuedCertificate): Promise<FakeTalosNode> {
  const forwardsTo = new Map(['127.0.0.1', 'localhost'].map((name) => [name, resources]));
  const clientCa = authority.crt;
  return started.with(await startFakeTalosNode({ clientCa, certificate, resources, forwardsTo }));
}

async function read(
  certificate: IssuedCertificate,
  access: Omit<TalosAccess, 'endpoints'> = cluster.access(),
  address = '127.0.0.1',
): Promise<unknown> {
  const node = await startNode(certificate);
  const endpoints = [`127.0.0.1:${cp.port}`];
  const talos = started.closing(
    createTalosClient({ access: fixedAccess({ ...access, endpoints }), port: node.port }),
  );
  return talos.readNodeFacts({ address, controlPlane: false }).catch((error: unknown) => error);
}

async function expectRefused(outcome: Promise<unknown>, says: RegExp): Promise<void> {
  const error = await outcome;
  expect(error).toBeInstanceOf(TalosError);
  expect(error).toMatchObject({ code: 'unauthenticated', message: expect.stringMatching(says) });
  expect(cp.calls).toHaveLength(0);
}

describe('the certificate of the server', () => {
  it('is accepted for exactly the address that was dialled', async () => {
    expect(await read(cluster.serverCertificate('10.5.0.11', '127.0.0.1'))).toMatchObject({
      route: 'direct',
    });
  });

  it('is accepted for the host name that was dialled, and then the address does not count', async () => {
    const byName = cluster.serverCertificate('localhost');
    expect(await read(byName, cluster.access(), 'localhost')).toMatchObject({ route: 'direct' });
    await expectRefused(
      read(cluster.serverCertificate('127.0.0.1'), cluster.access(), 'localhost'),
      /ERR_TLS_CERT_ALTNAME_INVALID/,
    );
  });

  it('is refused for another address', async () => {
    await expectRefused(
      read(cluster.serverCertificate('127.0.0.2')),
      /ERR_TLS_CERT_ALTNAME_INVALID/,
    );
  });

  it('is refused for a name that looks like the address', async () => {
    const options = { subject: { commonName: '127.0.0.1' }, sans: ['localhost'] };
    await expectRefused(read(issueCertificate(authority, options)), /ALTNAME_INVALID/);
  });

  it('is refused where only the common name holds the host name', async () => {
    const certificate = issueCertificate(authority, { subject: { commonName: 'localhost' } });
    await expectRefused(
      read(certificate, cluster.access(), 'localhost'),
      /no subject alternative names/,
    );
  });

  it('is refused from another authority, even one of the same name', async () => {
    await expectRefused(read(stranger.serverCertificate('127.0.0.1')), /certificate refused/);
  });

  it('is refused after its end, and before its beginning', async () => {
    const sans = ['127.0.0.1'];
    const notAfter = new Date(Date.now() - anHour / 2);
    await expectRefused(read(issueCertificate(authority, { sans, notAfter })), /CERT_HAS_EXPIRED/);
    const notBefore = new Date(Date.now() + anHour);
    await expectRefused(
      read(issueCertificate(authority, { sans, notBefore })),
      /CERT_NOT_YET_VALID/,
    );
  });

  it('is refused where it is for clients', async () => {
    const options = { sans: ['127.0.0.1'], usages: ['clientAuth'] as const };
    await expectRefused(read(issueCertificate(authority, options)), /INVALID_PURPOSE/);
  });
});

describe('the certificate of the client', () => {
  it('refused by the server is no reason to try another route', async () => {
    const foreign = { ...stranger.access(), ca: authority.crt };
    await expectRefused(
      read(cluster.serverCertificate('127.0.0.1'), foreign),
      /refuses the client certificate|ALERT/,
    );
  });

  it('that is none is reported without its text', async () => {
    const access = { ...cluster.access(), key: 'not a key' };
    await expectRefused(
      read(cluster.serverCertificate('127.0.0.1'), access),
      /cannot be used; check the talosconfig/,
    );
  });
});

it('dials an address without naming it as a server name', async () => {
  await read(cluster.serverCertificate('127.0.0.1'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings.map((warning) => warning.message)).toStrictEqual([]);
});
