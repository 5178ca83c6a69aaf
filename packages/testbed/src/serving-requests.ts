import { buildRequest, type RequestChanges } from '@ichor/policy/testing';
import { eventually, notYet } from './eventually.ts';
import { requestsPath } from './kube-objects.ts';
import type { KubeRequester, KubeResponse } from './kube-request.ts';
import type { Testbed, TestbedUser } from './testbed.ts';

/** A certificate signing request as the API server stored it. */
export type StoredRequest = {
  readonly name: string;
  readonly uid: string;
  readonly user: string;
  readonly resourceVersion: string;
  /** RFC 3339, in whole seconds. */
  readonly createdAt: string;
};

/** The condition that says how a request was decided. (certificates.k8s.io/v1) */
export type DecisionCondition = {
  readonly type: 'Approved' | 'Denied';
  readonly status: string;
  readonly reason: string;
  readonly message: string;
};

/** One decision as etcd has it: in which order it was written, and over what. */
export type WrittenDecision = DecisionCondition & {
  readonly request: string;
  readonly user: string;
  /** Revision of the write; revisions of all objects of one cluster can be compared. */
  readonly revision: bigint;
};

/** The user that a kubelet is after TLS bootstrapping. */
export function nodeUser(nodeName: string): TestbedUser {
  return { user: `system:node:${nodeName}`, groups: ['system:nodes'] };
}

/** Lets the members of a group create requests, as somebody must be who is no node. */
export async function letCreateRequests(testbed: Testbed, group: string): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  await testbed.apply({
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `testbed:requests-of:${group}` },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ apiGroup, kind: 'Group', name: group }],
  });
}

/**
 * Creates a kubelet-serving request as somebody: an honest one with these changes.
 *
 * @throws Error with the API server's message where it does not store the request
 */
export async function ask(
  testbed: Testbed,
  who: TestbedUser,
  changes: RequestChanges,
): Promise<StoredRequest> {
  const requester = testbed.requester(testbed.clientCertificate(who));
  try {
    return await askOver(requester, changes);
  } finally {
    requester.close();
  }
}

/** The same over connections that are open already. */
export async function askOver(
  requester: KubeRequester,
  changes: RequestChanges,
): Promise<StoredRequest> {
  // Names of the requester in the object are the server's to fill in. (Kubernetes `pkg/registry/certificates`)
  const { apiVersion, kind, spec } = buildRequest(changes);
  const body = { apiVersion, kind, metadata: { generateName: 'csr-' }, spec };
  const answer = await requester.send(requestsPath, { method: 'POST', body });
  if (answer.status !== 201) throw new Error(`The request was not stored: ${said(answer)}`);
  return storedRequest(answer.body);
}

/**
 * Creates requests, several at a time: `total` or more, and at least `inLastSecond` of them with the creation
 * time of the last one, because of those that are older all but the newest of a user are left undecided.
 *
 * @param who one user for all requests, or one for each
 */
export async function flood(
  testbed: Testbed,
  who: TestbedUser | ((index: number) => TestbedUser),
  changes: RequestChanges,
  total: number,
  inLastSecond = 0,
): Promise<readonly StoredRequest[]> {
  const shared =
    typeof who === 'function' ? undefined : testbed.requester(testbed.clientCertificate(who));
  const one = async (index: number): Promise<StoredRequest> =>
    typeof who === 'function'
      ? ask(testbed, who(index), changes)
      : askOver(shared as KubeRequester, changes);
  const made: StoredRequest[] = [];
  const ofLastSecond = () => {
    const last = made
      .map(({ createdAt }) => createdAt)
      .sort()
      .at(-1);
    return made.filter(({ createdAt }) => createdAt === last).length;
  };
  while (made.length < total || ofLastSecond() < inLastSecond) {
    const batch = Array.from({ length: 10 }, (_, index) => one(made.length + index));
    made.push(...(await Promise.all(batch)));
  }
  shared?.close();
  return made;
}

/** The certificate signing request as it is now. */
export async function readRequest(testbed: Testbed, name: string): Promise<KubeResponse['body']> {
  const answer = await testbed.admin.send(testbed.csrPath(name));
  if (answer.status !== 200) throw new Error(`${name} cannot be read: ${said(answer)}`);
  return answer.body;
}

/** Waits until a request is decided, by whomever; all its decisions, of which there must be one. */
export async function decisionOf(
  testbed: Testbed,
  request: { readonly name: string },
  timeoutMs = 30_000,
): Promise<DecisionCondition> {
  return eventually(
    `${request.name} is decided`,
    async () => {
      const { status } = await readRequest(testbed, request.name);
      const decisions = decisionsIn(status?.conditions);
      if (decisions.length > 1) throw new Error(`two decisions: ${JSON.stringify(decisions)}`);
      return decisions[0] ?? notYet(status);
    },
    { timeoutMs, everyMs: 40 },
  );
}

/** Waits until a request is issued; the certificate as PEM text. */
export async function certificateOf(
  testbed: Testbed,
  request: { readonly name: string },
): Promise<string> {
  const certificate = await eventually(`${request.name} is issued`, async () => {
    const { status } = await readRequest(testbed, request.name);
    return (status?.certificate as string | undefined) ?? notYet(status);
  });
  return Buffer.from(certificate, 'base64').toString('utf8');
}

/** The revision that the collection of requests has now. */
export async function revisionNow(testbed: Testbed): Promise<string> {
  const { body } = await testbed.admin.send(`${testbed.csrPath()}?limit=1`);
  return String(body.metadata.resourceVersion);
}

/**
 * The decisions that were written after a revision, in the order in which they were: a watch from
 * there replays them.
 */
export async function decisionsSince(
  testbed: Testbed,
  revision: string,
): Promise<readonly WrittenDecision[]> {
  const query = `watch=true&timeoutSeconds=1&resourceVersion=${revision}`;
  const { text } = await testbed.admin.send(`${testbed.csrPath()}?${query}`);
  const decided = new Set<string>();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const { type, object } = JSON.parse(line);
      if (type === 'ERROR') throw new Error(`The watch ended: ${object.message}`);
      const [decision] = decisionsIn(object.status?.conditions);
      if (decision === undefined || decided.has(object.metadata.uid)) return [];
      decided.add(object.metadata.uid);
      return [
        {
          ...decision,
          request: String(object.metadata.name),
          user: String(object.spec.username),
          revision: BigInt(object.metadata.resourceVersion),
        },
      ];
    });
}

function decisionsIn(conditions: readonly DecisionCondition[] = []): readonly DecisionCondition[] {
  return conditions.filter(({ type }) => type === 'Approved' || type === 'Denied');
}

function storedRequest(body: KubeResponse['body']): StoredRequest {
  return {
    name: body.metadata.name,
    uid: body.metadata.uid,
    user: body.spec.username,
    resourceVersion: body.metadata.resourceVersion,
    createdAt: body.metadata.creationTimestamp,
  };
}

function said({ status, body, text }: KubeResponse): string {
  return `${status} ${body?.message ?? text}`;
}
