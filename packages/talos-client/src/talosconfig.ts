import { isScalar, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { endpointText, parseEndpoint } from './endpoint.ts';
import type { TalosAccess } from './talos-client.ts';
import { TalosconfigError } from './talosconfig-error.ts';
import { checkedAuthority, checkedClientCertificate } from './talosconfig-material.ts';

const contextSchema = z.looseObject({
  endpoints: z.array(z.string()).nullish(),
  target: z.string().nullish(),
  ca: z.string().nullish(),
  crt: z.string().nullish(),
  key: z.string().nullish(),
  auth: z.looseObject({ basic: z.unknown(), siderov1: z.unknown() }).partial().nullish(),
});

const talosconfigSchema = z.looseObject({
  context: z.string().nullish(),
  contexts: z.record(z.string(), contextSchema),
});

/** One context as it stands in the file: nothing decoded, nothing checked but its types. */
export type TalosconfigContext = z.infer<typeof contextSchema>;

/**
 * A parsed talosconfig (Talos: pkg/machinery/client/config). Key material is decoded and checked
 * when a context is chosen, so that an expired context harms no other.
 */
export interface Talosconfig {
  /** The file path, or the Secret and its key, for messages. */
  readonly source: string;
  /** Name of the current context; empty where the file names none. */
  readonly context: string;
  readonly contexts: ReadonlyMap<string, TalosconfigContext>;
}

const defaultPort = 50_000;
const maxTextLength = 1_048_576;
const maxAliases = 100;
const howToGetOne = 'write a new one with `talosctl config new` or `talosctl gen config`';

/**
 * Parses the text of a talosconfig.
 *
 * @param source the file path, or the Secret and its key: what messages call it
 * @throws TalosconfigError and nothing else; no message holds a piece of the text itself.
 */
export function parseTalosconfig(text: string, source: string): Talosconfig {
  if (text.length > maxTextLength) {
    throw new TalosconfigError(source, '', `is larger than 1 MiB; ${howToGetOne}`);
  }
  const parsed = talosconfigSchema.safeParse(yamlOf(text, source));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue?.path.map(String).join('.') ?? '';
    throw new TalosconfigError(source, field, `${shapeProblem(issue)}; ${howToGetOne}`);
  }
  return {
    source,
    context: parsed.data.context ?? '',
    contexts: new Map(Object.entries(parsed.data.contexts)),
  };
}

function yamlOf(text: string, source: string): unknown {
  // Pretty errors would quote lines of the file, and those may be a private key.
  // The library's own look for repeated keys takes quadratic time.
  const document = parseDocument(text, {
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'silent',
  });
  const error = document.errors[0];
  if (error !== undefined) {
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw new TalosconfigError(
      source,
      '',
      `is not YAML (line ${line}, ${error.code}); ${howToGetOne}`,
    );
  }
  let repeated: number | undefined;
  let aliases = 0;
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>();
      const again = map.items.find(({ key }) => {
        const value = isScalar(key) ? key.value : key;
        return keys.size === keys.add(value).size;
      });
      if (again === undefined) return undefined;
      repeated = isScalar(again.key) ? (again.key.range?.[0] ?? 0) : 0;
      return visit.BREAK;
    },
    Alias() {
      aliases += 1;
    },
  });
  if (repeated !== undefined) {
    const line = text.slice(0, repeated).split('\n').length;
    throw new TalosconfigError(
      source,
      '',
      `is not YAML (line ${line}, DUPLICATE_KEY); ${howToGetOne}`,
    );
  }
  try {
    // Resolving an alias walks the document.
    if (aliases > maxAliases) throw new RangeError('too many aliases');
    return document.toJS();
  } catch {
    throw new TalosconfigError(source, '', `has unusable YAML aliases; ${howToGetOne}`);
  }
}

function shapeProblem(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.path.length === 0) {
    return 'is not a talosconfig, which is a mapping with the key contexts';
  }
  return issue?.code === 'invalid_type' ? `must be of type ${issue.expected}` : 'is not valid';
}

/**
 * The access that one context gives.
 *
 * `nodes` is ignored: whom to ask comes from the inventory.
 *
 * @param contextName default: the file's current context, or its only one
 * @throws TalosconfigError and nothing else: no such context, another kind of authentication than
 *   a client certificate, material that does not decode or does not belong together, a client
 *   certificate outside its validity at `now`.
 */
export function accessOf(
  talosconfig: Talosconfig,
  contextName?: string,
  now: Date = new Date(),
): TalosAccess {
  const { source } = talosconfig;
  const name = chooseContext(talosconfig, contextName);
  const field = `contexts.${name}`;
  const context = talosconfig.contexts.get(name);
  if (context === undefined) {
    const names = [...talosconfig.contexts.keys()].join(', ') || 'none';
    throw new TalosconfigError(source, field, `does not exist; the file has: ${names}`);
  }
  refuseOtherAuthentication(context, source, field);
  const endpoints = endpointsOf(context, source, field);
  const ca = checkedAuthority({ source, field: `${field}.ca`, text: context.ca });
  const { crt, key } = checkedClientCertificate(
    { source, field: `${field}.crt`, text: context.crt },
    { source, field: `${field}.key`, text: context.key },
    now,
  );
  return { endpoints, ca, crt, key };
}

function chooseContext(talosconfig: Talosconfig, contextName: string | undefined): string {
  const asked = contextName ?? talosconfig.context;
  if (asked !== '') {
    return asked;
  }
  const [only, ...others] = talosconfig.contexts.keys();
  if (only === undefined || others.length > 0) {
    const problem =
      'names no current context; choose one with `talosctl config context`, or name one here';
    throw new TalosconfigError(talosconfig.source, 'context', problem);
  }
  return only;
}

function refuseOtherAuthentication(
  context: TalosconfigContext,
  source: string,
  field: string,
): void {
  for (const kind of ['siderov1', 'basic'] as const) {
    const given = context.auth?.[kind];
    if (given !== undefined && given !== null) {
      throw new TalosconfigError(
        source,
        `${field}.auth.${kind}`,
        'is authentication through a proxy, which is not supported; use a talosconfig with a client certificate (ca, crt and key)',
      );
    }
  }
}

function endpointsOf(context: TalosconfigContext, source: string, field: string): string[] {
  const list = (context.endpoints ?? []).map((text, index) => ({
    text,
    field: `${field}.endpoints.${index}`,
  }));
  // Before there was a list of endpoints, one address stood here.
  if (context.target !== undefined && context.target !== null && context.target !== '') {
    list.push({ text: context.target, field: `${field}.target` });
  }
  const endpoints = list.map((entry) => {
    const endpoint = parseEndpoint(entry.text, defaultPort);
    if (endpoint === undefined) {
      throw new TalosconfigError(
        source,
        entry.field,
        'is no endpoint; write host, host:port, [IPv6]:port or https://host',
      );
    }
    const isBare = endpoint.port === defaultPort;
    return isBare ? endpoint.host : endpointText(endpoint);
  });
  return [...new Set(endpoints)];
}
