/** Hands values from one running task to one loop, one at a time, so that neither gets ahead. */
export class Handoff<Value> {
  #offer: { readonly value: Value; readonly taken: () => void } | undefined;
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => {};

  /** Offers a value; resolves when the loop asks for the next one. */
  put(value: Value): Promise<void> {
    return new Promise((taken) => {
      this.#offer = { value, taken };
      this.#wake();
    });
  }

  /** Ends the loop, with an error where there is one. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#offer?.taken();
    this.#wake();
  }

  /** The values, until the end. */
  async *values(): AsyncGenerator<Value, void, undefined> {
    for (;;) {
      const offer = this.#offer;
      if (offer !== undefined) {
        yield offer.value;
        this.#offer = undefined;
        offer.taken();
      } else if (this.#end !== undefined) {
        if ('error' in this.#end) {
          throw this.#end.error;
        }
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
