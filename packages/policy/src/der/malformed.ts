/**
 * Thrown inside the reader where bytes are not canonical DER or not the structure that belongs
 * there, and caught at its entrance: nothing outside sees it. It is no Error, because collecting a
 * stack costs more than reading a whole request.
 */
export class Malformed {
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

/** Ends the reading with a sentence part that says what is wrong. */
export function malformed(problem: string): never {
  throw new Malformed(problem);
}
