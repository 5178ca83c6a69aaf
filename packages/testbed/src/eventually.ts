import { setTimeout as sleep } from 'node:timers/promises';

/** A probe's answer that means "not yet", with what it saw for the message. */
export type NotYet = { readonly seen: unknown };

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
      last = typeof answer === 'object' ? answer.seen : answer;
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
  return (
    typeof answer === 'object' &&
    answer !== null &&
    Object.keys(answer).length === 1 &&
    'seen' in answer
  );
}
