import { setTimeout as sleep } from 'node:timers/promises';

const notYetMark = Symbol('not yet');

/** A probe's answer that means "not yet"; made by {@link notYet}. */
export type NotYet = { readonly [notYetMark]: unknown };

/** Answers "not yet" and says what was seen instead, for the message when time is up. */
export const notYet = (seen: unknown): NotYet => ({ [notYetMark]: seen });

/**
 * Asks until the answer is something else than `undefined`, `false` or a {@link NotYet}, and returns it. A probe
 * that throws is asked again.
 *
 * @param what completes the sentence "It did not happen that …".
 * @throws Error after `timeoutMs` (default 30,000), naming what was waited for and what was seen last.
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false | NotYet> | T | undefined | false | NotYet,
  options: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<T> {
  const timeoutMs = options.timeoutMs ?? 30_000;
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (!isNotYet(answer)) return answer;
      last = typeof answer === 'object' ? answer[notYetMark] : answer;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      const seen = last instanceof Error ? last.message : JSON.stringify(last);
      throw new Error(
        `Within ${timeoutMs / 1000} s it did not happen that ${what}. Seen last: ${seen}`,
        { cause: last },
      );
    }
    await sleep(options.everyMs ?? 100);
  }
}

function isNotYet(answer: unknown): answer is undefined | false | NotYet {
  if (answer === undefined || answer === false) return true;
  return typeof answer === 'object' && answer !== null && notYetMark in answer;
}
