import { CoreV1Api } from '@kubernetes/client-node';
import { callApi } from './call-api.ts';
import type { KubeConnection } from './connection.ts';
import { KubeError } from './kube-error.ts';
import { isKubeObject, type KubeObject } from './kube-object.ts';
import {
  approvalBody,
  isLeftOnServer,
  kubeletServingSigner,
  receiveRequest,
} from './received-request.ts';
import { openReflector, type ReflectorTiming } from './reflector.ts';
import type { ReceivedRequest, SigningCluster } from './signing-cluster.ts';

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/**
 * Follows and decides the kubelet-serving requests of the cluster at the other end. Closing it ends
 * the watch and closes the connection.
 */
export function openSigningCluster(
  connection: KubeConnection,
  timing: Partial<ReflectorTiming> = {},
): SigningCluster {
  const reflector = openReflector({
    connection,
    path: collection,
    fieldSelector: `spec.signerName=${kubeletServingSigner}`,
    what: 'CertificateSigningRequests',
    translate: receiveRequest,
    timing,
  });
  return {
    server: connection.server,
    requests: reflector.list,

    async readClusterUid() {
      const what = 'Reading the namespace kube-system';
      const namespace = await callApi(what, () =>
        connection.api(CoreV1Api).readNamespace({ name: 'kube-system' }),
      );
      const uid = namespace.metadata?.uid;
      if (uid === undefined || uid === '') {
        throw new KubeError('unavailable', `${what} failed: the answer has no uid.`);
      }
      return uid;
    },

    serverTime: () => connection.serverTime(),

    async writeDecision(request, condition) {
      const whole = await withWhole(connection, request);
      if (typeof whole === 'string') return whole;
      // Not through the typed API: it drops the fields that it does not know.
      const body = JSON.stringify(approvalBody(whole, condition));
      try {
        await connection.request({
          method: 'PUT',
          path: `${pathOf(request.name)}/approval`,
          what: `Writing the decision on CertificateSigningRequest ${request.name}`,
          body,
        });
        return 'written';
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        if (error.code === 'notFound') return 'gone';
        if (error.code !== 'conflict') throw error;
        return whyConflict(connection, request);
      }
    },

    close() {
      reflector.close();
      connection.close();
    },
  };
}

function pathOf(name: string): string {
  return `${collection}/${encodeURIComponent(name)}`;
}

/** The object as it is stored now; undefined where it is gone or replaced. @throws KubeError */
async function readAgain(
  connection: KubeConnection,
  request: ReceivedRequest,
): Promise<KubeObject | undefined> {
  const what = `Reading CertificateSigningRequest ${request.name}`;
  let object: unknown;
  try {
    const answer = await connection.request({ method: 'GET', path: pathOf(request.name), what });
    object = JSON.parse(answer.body);
  } catch (error) {
    if (error instanceof KubeError && error.code === 'notFound') return undefined;
    throw error;
  }
  if (!isKubeObject(object)) {
    throw new KubeError('unavailable', `${what} failed: the answer is no object.`);
  }
  return object.metadata.uid === request.uid ? object : undefined;
}

/** The request with its whole object, fetched where it was not kept, in the version that was judged. */
async function withWhole(
  connection: KubeConnection,
  request: ReceivedRequest,
): Promise<ReceivedRequest | 'conflict' | 'gone'> {
  if (!isLeftOnServer(request)) return request;
  const object = await readAgain(connection, request);
  if (object === undefined) return 'gone';
  if (object.metadata.resourceVersion !== request.resourceVersion) return 'conflict';
  return { ...request, raw: object };
}

/** A foreign uid and an old resource version are both answered with 409; only a look tells them apart. */
async function whyConflict(
  connection: KubeConnection,
  request: ReceivedRequest,
): Promise<'conflict' | 'gone'> {
  try {
    return (await readAgain(connection, request)) === undefined ? 'gone' : 'conflict';
  } catch {
    // Whoever is told of a conflict looks again, which settles it.
    return 'conflict';
  }
}
