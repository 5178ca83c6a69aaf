import type { TalosMachine } from '@ichor/k8s-adapter';
import type { ReadMachine } from './plan-decision.ts';

/** Readings that no request waits for, at the same time. */
export const readingsAtOnce = 16;
/** A machine is read again after about this, in milliseconds. */
export const rereadMs = 10 * 60_000;
/** A machine that never answered is tried again after about this, in milliseconds. */
export const neverReadMs = 60_000;

/**
 * Which machines to read without a request that asks for it: those that appeared or whose spec
 * changed at once, all others about every ten minutes.
 *
 * @param jitterOf a number in [0, 1) per machine, so that they do not come all at once
 */
export function planReadings(
  machines: readonly ReadMachine[],
  now: number,
  jitterOf: (machine: TalosMachine) => number,
): { readonly due: readonly TalosMachine[]; readonly nextInMs: number | undefined } {
  const due: TalosMachine[] = [];
  let nextInMs: number | undefined;
  for (const { machine, facts, state } of machines) {
    const period = (facts === undefined ? neverReadMs : rereadMs) * (0.9 + 0.2 * jitterOf(machine));
    const inMs = state.triedAt === undefined ? 0 : state.triedAt + period - now;
    if (inMs <= 0) due.push(machine);
    else nextInMs = Math.min(nextInMs ?? inMs, inMs);
  }
  return { due, nextInMs };
}
