import { isIP } from 'node:net';
import * as z from 'zod';
import type { Condition, InvalidObject, ObjectIdentity } from './talos-objects.ts';

/** Where the custom resources live. */
export const apiGroup = 'ichor.dev';
/** The one version served. */
export const apiVersion = 'v1alpha1';

const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const dnsNamePattern = new RegExp(`^${label}(\\.${label})*\\.?$`);

/** An optional field: absent and `null` are the same. */
export function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** A list that is empty when absent. */
export function list<T extends z.ZodType>(item: T) {
  return z
    .array(item, expected('a list'))
    .nullish()
    .transform((value) => value ?? []);
}

/** A field with a default, which an explicit `null` takes too. */
export function withDefault<T extends z.ZodType>(schema: T, value: z.output<T>) {
  return schema.nullish().transform((given) => given ?? value);
}

/** Any text. */
export const text = z.string(expected('text'));

/** A host name of letters, digits and hyphens, at most 253 characters, no wildcard. (RFC 1123 section 2.1) */
export const dnsName = text.refine(
  (text) => text.length <= 253 && dnsNamePattern.test(text) && isIP(text) === 0,
  {
    message: 'must be a DNS name of letters, digits, hyphens and dots, without wildcards',
  },
);

/** An IPv4 or IPv6 address without a zone. */
export const ipAddress = text.refine(isAddress, { message: 'must be an IP address' });

/** An address and a prefix length of at least 1: `/0` would hold every address there is. */
export const subnet = text.refine(isSubnet, {
  message: 'must be a subnet such as 10.5.0.0/16, with a prefix length of at least 1',
});

/** Where a machine can be reached: an address or a host name. */
export const hostAddress = text.refine((text) => isAddress(text) || isHostName(text), {
  message: 'must be an IP address or a DNS name',
});

/** The name of an object in the same namespace. (Kubernetes DNS subdomain) */
export const objectName = text.refine((text) => text !== '' && text.length <= 253, {
  message: 'must be the name of an object, 1 to 253 characters',
});

/** `https://host[:port]`. */
export const httpsUrl = text.refine(isHttpsUrl, {
  message: 'must be an https URL with a host, such as https://10.5.0.100:6443',
});

const metadata = z.object({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  generation: withDefault(z.number(), 0),
  resourceVersion: z.string(),
});

/** Identity of an object as received; parts that are missing read as empty. */
export function objectIdentity(object: { readonly metadata: unknown }): ObjectIdentity {
  const parsed = metadata.safeParse(object.metadata);
  if (parsed.success) return parsed.data;
  const given = metadata.partial().catch({}).parse(object.metadata);
  return {
    name: given.name ?? '',
    namespace: given.namespace ?? '',
    uid: given.uid ?? '',
    generation: given.generation ?? 0,
    resourceVersion: given.resourceVersion ?? '',
  };
}

/** Says in one sentence which field of which object is wrong, and what it has to be. */
export function invalidObject(
  kind: string,
  identity: ObjectIdentity,
  error: z.ZodError,
): InvalidObject {
  const [first] = error.issues;
  const field = first === undefined ? 'spec' : pathText(first.path);
  const problem = first === undefined ? 'is not valid' : first.message;
  return {
    ...identity,
    problem: `${kind} ${identity.namespace}/${identity.name}: ${field} ${problem}; correct the field.`,
  };
}

/** `error` parameter of a schema: what stands in the sentence after the name of the field. */
export function expected(what: string): { error: (issue: { input?: unknown }) => string } {
  return {
    error: (issue) => (issue.input === undefined ? `is required: ${what}` : `must be ${what}`),
  };
}

const condition: z.ZodType<Condition> = z
  .object({
    type: z.string(),
    status: z.enum(['True', 'False', 'Unknown']),
    reason: z.string(),
    message: withDefault(z.string(), ''),
    lastTransitionTime: z.string(),
    observedGeneration: optional(z.number()),
  })
  .transform(({ observedGeneration, ...rest }) =>
    observedGeneration === undefined ? rest : { ...rest, observedGeneration },
  );

/** The conditions of a status; what is no condition is left out. */
export const conditions = z
  .array(z.unknown())
  .nullish()
  .catch([])
  .transform((items) =>
    (items ?? []).flatMap((item) => {
      const parsed = condition.safeParse(item);
      return parsed.success ? [parsed.data] : [];
    }),
  );

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

function isHostName(text: string): boolean {
  return text.length <= 253 && dnsNamePattern.test(text);
}

function isSubnet(text: string): boolean {
  const [address = '', prefix = '', ...rest] = text.split('/');
  if (rest.length > 0 || !isAddress(address) || !/^(0|[1-9][0-9]{0,2})$/.test(prefix)) return false;
  const length = Number(prefix);
  return length >= 1 && length <= (isIP(address) === 4 ? 32 : 128);
}

function isHttpsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' && url.hostname !== '' && url.username === '';
}
