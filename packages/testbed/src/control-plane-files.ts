import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type KeyPairPem,
} from './certificate-authority.ts';

/** Certificates and keys of a control plane, as objects and as files. */
export type ControlPlaneFiles = {
  /** Signs clients, API servers and, in the controller manager, kubelets. */
  readonly ca: CertificateAuthority;
  /** Identity with which API servers call kubelets. */
  readonly kubeletClient: KeyPairPem;
  readonly file: {
    readonly caCertificate: string;
    readonly caKey: string;
    readonly serviceAccountPublicKey: string;
    readonly serviceAccountKey: string;
    readonly frontProxyCaCertificate: string;
    readonly frontProxyCertificate: string;
    readonly frontProxyKey: string;
    readonly kubeletClientCertificate: string;
    readonly kubeletClientKey: string;
  };
};

/** User name with which API servers call kubelets; it needs the ClusterRole `system:kubelet-api-admin`. */
export const kubeletClientUser = 'kube-apiserver-kubelet-client';

/** First address of the service range, which every API server answers for. */
export const serviceAddress = '10.96.0.1';

/** Range from which Services get their addresses. */
export const serviceRange = '10.96.0.0/12';

/** Makes everything that the control plane's programs expect to find on disk, in a directory of its own. */
export async function createControlPlaneFiles(directory: string): Promise<ControlPlaneFiles> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const ca = createCertificateAuthority('kubernetes');
  const frontProxyCa = createCertificateAuthority('front-proxy');
  const frontProxy = frontProxyCa.client({ commonName: 'front-proxy-client' });
  const kubeletClient = ca.client({ commonName: kubeletClientUser });
  const serviceAccount = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    ca,
    kubeletClient,
    file: {
      caCertificate: await write('ca.crt', ca.certificate),
      caKey: await write('ca.key', ca.key),
      serviceAccountPublicKey: await write(
        'service-account.pub',
        serviceAccount.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      ),
      serviceAccountKey: await write(
        'service-account.key',
        // SEC 1, the form that client-go's key reader knows for EC keys.
        serviceAccount.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
      ),
      frontProxyCaCertificate: await write('front-proxy-ca.crt', frontProxyCa.certificate),
      frontProxyCertificate: await write('front-proxy-client.crt', frontProxy.certificate),
      frontProxyKey: await write('front-proxy-client.key', frontProxy.key),
      kubeletClientCertificate: await write('kubelet-client.crt', kubeletClient.certificate),
      kubeletClientKey: await write('kubelet-client.key', kubeletClient.key),
    },
  };
}

/** Writes the serving certificate of one API server and returns the two paths. */
export async function writeServingPair(
  directory: string,
  ca: CertificateAuthority,
  name: string,
  addresses: readonly string[],
): Promise<{ readonly certificate: string; readonly key: string }> {
  const pair = ca.server(
    { commonName: 'kube-apiserver' },
    {
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ipAddresses: [...new Set(['127.0.0.1', serviceAddress, ...addresses])],
    },
  );
  const path = { certificate: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) };
  await writeFile(path.certificate, pair.certificate, { mode: 0o600 });
  await writeFile(path.key, pair.key, { mode: 0o600 });
  return path;
}
