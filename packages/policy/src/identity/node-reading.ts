import { quoteUpTo } from '../quote.ts';
import { type PreparedIdentity, prepareIdentity } from './prepare-identity.ts';

/** A reading that was checked: what a decision may rely on. */
export type CheckedReading =
  | { readonly kind: 'unmanaged' }
  /** The machine is known, its identity is not. */
  | { readonly kind: 'unknown'; readonly nodeName: string; readonly cause: string }
  /** `identity` is prepared when it is needed, which it mostly is not for hostile requests. */
  | { readonly kind: 'read'; readonly nodeName: string; readonly prepare: () => Prepared }
  /** No reading at all: not even the machine is known. */
  | { readonly kind: 'unusable' };

/** A prepared identity, or why there is none. */
export type Prepared = { readonly identity: PreparedIdentity } | { readonly cause: string };

/** Why a node could not be read ends with what to do about it: more room than for a name. */
const longestCause = 600;

/** Checks a reading, whatever it holds. */
export function checkReading(reading: unknown): CheckedReading {
  if (!isRecord(reading)) return { kind: 'unusable' };
  const { kind, nodeName, cause, identity } = reading;
  if (kind === 'unmanaged') return { kind };
  if (kind === 'read' && isRecord(identity) && isName(identity['nodeName'])) {
    return { kind, nodeName: identity['nodeName'], prepare: () => prepared(identity) };
  }
  if (kind === 'unreadable' && isName(nodeName)) {
    const because =
      typeof cause === 'string' && cause !== '' ? `: ${quoteUpTo(longestCause, cause)}` : '';
    return { kind: 'unknown', nodeName, cause: `The node could not be read${because}.` };
  }
  if (kind === 'notRead' && isName(nodeName)) {
    return { kind: 'unknown', nodeName, cause: 'The node was not read.' };
  }
  return { kind: 'unusable' };
}

function prepared(identity: Record<string, unknown>): Prepared {
  const preparation = prepareIdentity(identity);
  return preparation.kind === 'prepared'
    ? { identity: preparation.identity }
    : { cause: preparation.cause };
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
