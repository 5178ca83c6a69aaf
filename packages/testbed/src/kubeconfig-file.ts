import { writeFile } from 'node:fs/promises';
import type { KeyPairPem } from './certificate-authority.ts';

/** What a client shows to the API server: a certificate, a token, or a pair of files that change. */
export type Credential =
  | KeyPairPem
  | { readonly token: string }
  | { readonly certificateFile: string; readonly keyFile: string };

/**
 * A kubeconfig with one context, as JSON (which is YAML too), everything embedded.
 *
 * @param server URL of the API server.
 * @param caPem what the server's certificate chains to.
 */
export function kubeconfigText(server: string, caPem: string, credential: Credential): string {
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'testbed', cluster: { server, 'certificate-authority-data': base64(caPem) } },
      ],
      users: [{ name: 'user', user: userEntry(credential) }],
      contexts: [{ name: 'testbed', context: { cluster: 'testbed', user: 'user' } }],
      'current-context': 'testbed',
    },
    undefined,
    2,
  );
}

/** Writes a kubeconfig that only its owner may read and returns its path. */
export async function writeKubeconfig(
  path: string,
  server: string,
  caPem: string,
  credential: Credential,
): Promise<string> {
  await writeFile(path, kubeconfigText(server, caPem, credential), { mode: 0o600 });
  return path;
}

function userEntry(credential: Credential): Record<string, string> {
  if ('token' in credential) return { token: credential.token };
  if ('certificateFile' in credential) {
    return {
      'client-certificate': credential.certificateFile,
      'client-key': credential.keyFile,
    };
  }
  return {
    'client-certificate-data': base64(credential.certificate),
    'client-key-data': base64(credential.key),
  };
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
