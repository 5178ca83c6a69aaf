import type { Draw } from '../draw.ts';
import type { CaseParts, ExpectedDecision } from '../request-case.ts';

/** One thing that can be wrong with an otherwise honest request, and what it must earn. */
export interface Fault {
  /** What is wrong, in a few words. */
  readonly name: string;
  readonly expect: ExpectedDecision;
  /** The case with this fault; `null` if this case cannot have it. Shapes vary with the draw. */
  readonly spoil: (parts: CaseParts, draw: Draw) => CaseParts | null;
}
