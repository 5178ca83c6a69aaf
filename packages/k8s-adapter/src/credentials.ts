import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';

/** What a request carries to be accepted: headers, and the TLS side. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

/** PEM material and checks of one TLS connection. */
export type TlsMaterial = Pick<
  RequestOptions,
  'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'
>;

/**
 * Credentials for one request, as the kubeconfig says: files are read and programs are run anew
 * where the library thinks it necessary. The server's certificate is checked unless the kubeconfig
 * itself says otherwise, whatever the environment says.
 */
export async function credentialsFor(kubeConfig: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  await kubeConfig.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value === 'string') headers[name] = value;
  }
  if (typeof options.auth === 'string') {
    headers['Authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  const { ca, cert, key, servername } = options;
  return {
    headers,
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(servername === undefined ? {} : { servername }),
      rejectUnauthorized: options.rejectUnauthorized !== false,
    },
  };
}
