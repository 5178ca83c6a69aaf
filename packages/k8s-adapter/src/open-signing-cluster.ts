import { CoreV1Api } from '@kubernetes/client-node';
import { callApi } from './call-api.ts';
import type { KubeConnection } from './connection.ts';
import { KubeError } from './kube-error.ts';
import { isKubeObject } from './kube-object.ts';
import { approvalBody, kubeletServingSigner, receiveRequest } from './received-request.ts';
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
      // Not through the typed API: it drops the fields that it does not know.
      const body = JSON.stringify(approvalBody(request, condition));
      try {
        await connection.request({
          method: 'PUT',
          path: `${collection}/${encodeURIComponent(request.name)}/approval`,
          what: `Writing the decision on CertificateSigningRequest ${request.name}`,
          body,
        });
        return 'written';
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        if (error.code === 'notFound') return 'gone';
        if (error.code !== 'conflict') throw error;
        return (await isStillThere(connection, request)) ? 'conflict' : 'gone';
      }
    },

    close() {
      reflector.close();
      connection.close();
    },
  };
}

/** A foreign uid and an old resource version are both answered with 409; only a look tells them apart. */
async function isStillThere(
  connection: KubeConnection,
  request: ReceivedRequest,
): Promise<boolean> {
  try {
    const answer = await connection.request({
      method: 'GET',
      path: `${collection}/${encodeURIComponent(request.name)}`,
      what: `Reading CertificateSigningRequest ${request.name}`,
    });
    const object: unknown = JSON.parse(answer.body);
    return !isKubeObject(object) || object.metadata.uid === request.uid;
  } catch (error) {
    // Whoever is told of a conflict looks again, which settles it.
    return !(error instanceof KubeError && error.code === 'notFound');
  }
}
