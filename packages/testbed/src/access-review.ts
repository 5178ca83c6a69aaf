import type { KubeRequester } from './kube-request.ts';

/** What a user asks whether it may do it; every part as in `authorization.k8s.io/v1`. */
export type ResourceAccess = {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly namespace?: string;
};

/** Whether, and by which role binding. */
export type AccessAnswer = { readonly allowed: boolean; readonly reason: string };

const reviews = '/apis/authorization.k8s.io/v1';

/**
 * Asks the API server whether a user may do something that need not exist as a call, such as `approve` on
 * `signers`. (SelfSubjectAccessReview)
 *
 * @throws Error with the API server's message where it does not answer
 */
export async function mayI(who: KubeRequester, access: ResourceAccess): Promise<AccessAnswer> {
  const { allowed, reason = '' } = await review(who, 'SelfSubjectAccessReview', {
    resourceAttributes: access,
  });
  return { allowed, reason };
}

/**
 * Everything that a user may do in a namespace and in the whole cluster, one line per right:
 * `verb group/resource[name]`, where every name is `*`. (SelfSubjectRulesReview)
 *
 * @throws Error with the API server's message where it does not answer
 */
export async function rightsOf(who: KubeRequester, namespace: string): Promise<readonly string[]> {
  const { resourceRules, nonResourceRules } = await review(who, 'SelfSubjectRulesReview', {
    namespace,
  });
  const onResources = (resourceRules as readonly ResourceRule[]).flatMap(
    ({ apiGroups = [], resources = [], resourceNames = ['*'], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) =>
            verbs.map((verb) => `${verb} ${group || 'core'}/${resource}[${name}]`),
          ),
        ),
      ),
  );
  const onUrls = (nonResourceRules as readonly UrlRule[]).flatMap(
    ({ nonResourceURLs = [], verbs }) =>
      nonResourceURLs.flatMap((url) => verbs.map((verb) => `${verb} ${url}`)),
  );
  return [...new Set([...onResources, ...onUrls])].sort();
}

type ResourceRule = {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
};

type UrlRule = { readonly nonResourceURLs?: readonly string[]; readonly verbs: readonly string[] };

async function review(who: KubeRequester, kind: string, spec: object) {
  const { status, body, text } = await who.send(`${reviews}/${kind.toLowerCase()}s`, {
    method: 'POST',
    body: { apiVersion: 'authorization.k8s.io/v1', kind, spec },
  });
  if (status !== 201) throw new Error(`The ${kind} failed: ${status} ${body?.message ?? text}`);
  return body.status;
}
