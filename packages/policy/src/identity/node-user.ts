/** User names of nodes are this and the node name (Kubernetes, node authorization mode). */
const nodeUserPrefix = 'system:node:';

/** The signer whose requests are decided (Kubernetes, "Certificate Signing Requests"). */
export const SIGNER_NAME = 'kubernetes.io/kubelet-serving';

/** The group that every node's credential is in. */
export const NODES_GROUP = 'system:nodes';

/** The user name of a node, which is also the common name that its request must carry. */
export function nodeUserOf(nodeName: string): string {
  return nodeUserPrefix + nodeName;
}

/** The node name in a node's user name, compared as it is; undefined for any other user. */
export function nodeNameOf(username: string): string | undefined {
  const isNode = username.startsWith(nodeUserPrefix) && username.length > nodeUserPrefix.length;
  return isNode ? username.slice(nodeUserPrefix.length) : undefined;
}
