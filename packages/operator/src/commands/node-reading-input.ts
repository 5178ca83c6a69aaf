import type { NodeReading, Source } from '@ichor/policy';
import { z } from 'zod';
import { UsageError } from './exit-code.ts';

const source = z.enum([
  'NodeIP',
  'Nodename',
  'HostnameStatus',
  'ExternalAddress',
  'PlatformMetadata',
  'Configured',
] satisfies Source[]);
const sourced = z.array(z.strictObject({ value: z.string(), source })).readonly();
const texts = z.array(z.string()).readonly().default([]);

const identity = z.strictObject({
  nodeName: z.string().min(1),
  dnsNames: sourced,
  ipAddresses: sourced,
  subnets: sourced.default([]),
  reserved: z
    .strictObject({ dnsNames: texts, ipAddresses: texts, subnets: texts })
    .default({ dnsNames: [], ipAddresses: [], subnets: [] }),
  others: z
    .array(z.strictObject({ machine: z.string(), dnsNames: sourced, ipAddresses: sourced }))
    .readonly()
    .default([]),
});

const reading = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('read'), identity }),
  z.strictObject({ kind: z.literal('unreadable'), nodeName: z.string(), cause: z.string() }),
  z.strictObject({ kind: z.literal('notRead'), nodeName: z.string() }),
  z.strictObject({ kind: z.literal('unmanaged') }),
]);

/**
 * Takes a NodeReading, or a bare NodeIdentity, which counts as read.
 *
 * @throws UsageError naming the file and the field
 */
export function nodeReadingOf(value: unknown, path: string): NodeReading {
  const isReading = typeof value === 'object' && value !== null && 'kind' in value;
  const parsed = isReading
    ? reading.safeParse(value)
    : z.object({ kind: z.literal('read'), identity }).safeParse({ kind: 'read', identity: value });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const fields = (issue?.path ?? []).filter((part) => isReading || part !== 'identity');
  const field = fields.length === 0 ? 'the document' : fields.map(String).join('.');
  throw new UsageError(
    `${path} is no node identity: ${field}: ${issue?.message ?? 'it has another shape'}.`,
  );
}
