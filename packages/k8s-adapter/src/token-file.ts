import { readFile } from 'node:fs/promises';
import type { KubeConfig } from '@kubernetes/client-node';

/** How client-node asks for credentials; the library does not export the type by name. */
type Authenticator = Parameters<KubeConfig['addAuthenticator']>[0];

/**
 * Sends the token that stands in a file at the time of the request: a pod's token is replaced while
 * the program runs. (Kubernetes service account token volume projection)
 */
export function tokenFileAuthenticator(path: string): Authenticator {
  return {
    isAuthProvider: () => true,
    async applyAuthentication(_user, options) {
      const token = (await readFile(path, 'utf8')).trim();
      if (token === '') throw new Error(`the token file ${path} is empty`);
      options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
    },
  };
}
