/**
 * How long to wait after the `setbacks`th failure in a row, in milliseconds: `first` doubled each
 * time up to `most`, of which a random part between a half and all is taken. `random` is in [0, 1).
 */
export function backOff(setbacks: number, first: number, most: number, random: number): number {
  if (setbacks <= 0) return 0;
  const ceiling = Math.min(most, first * 2 ** Math.min(setbacks - 1, 30));
  return ceiling / 2 + (ceiling / 2) * random;
}

/** Full jitter: anything between nothing and the doubled-up ceiling, in milliseconds. */
export function fullJitter(attempt: number, first: number, most: number, random: number): number {
  return Math.min(most, first * 2 ** Math.min(attempt - 1, 30)) * random;
}
