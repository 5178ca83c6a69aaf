import type { KubeRequester, KubeResponse } from './kube-request.ts';

/**
 * Creates an object by POST to its collection's path; one that exists already (409 AlreadyExists) is left as it is.
 *
 * @throws Error with the API server's message for every other answer than success.
 */
export async function createObject(
  requester: KubeRequester,
  path: string,
  object: Readonly<Record<string, unknown>>,
): Promise<KubeResponse> {
  const response = await requester.send(path, { method: 'POST', body: object });
  if (response.status >= 300 && response.body?.reason !== 'AlreadyExists') {
    throw new Error(`POST ${path}: ${response.status} ${response.body?.message ?? response.text}`);
  }
  return response;
}

/** Path of the collection of certificate signing requests. */
export const requestsPath = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** A certificate signing request to be created. */
export type NewRequest = {
  /** Default: given by the server, beginning with `csr-`. */
  readonly name?: string;
  /** The PEM text, as text or as the bytes that are to be stored. */
  readonly request: string | Uint8Array;
  /** Default `kubernetes.io/kubelet-serving`. */
  readonly signerName?: string;
  /** Default what a kubelet with an EC key asks for. */
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
};

/** The object (certificates.k8s.io/v1) that asks for a certificate. */
export function requestObject(request: NewRequest): Readonly<Record<string, unknown>> {
  const bytes =
    typeof request.request === 'string' ? Buffer.from(request.request, 'utf8') : request.request;
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: request.name === undefined ? { generateName: 'csr-' } : { name: request.name },
    spec: {
      request: Buffer.from(bytes).toString('base64'),
      signerName: request.signerName ?? 'kubernetes.io/kubelet-serving',
      usages: request.usages ?? ['digital signature', 'server auth'],
      ...(request.expirationSeconds === undefined
        ? {}
        : { expirationSeconds: request.expirationSeconds }),
    },
  };
}
