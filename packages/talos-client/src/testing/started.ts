/** Things that were started for one test, stopped in the reverse order. */
export class Started {
  readonly #stops: (() => unknown)[] = [];

  /** Remembers to stop it. */
  with<Thing extends { stop(): unknown }>(thing: Thing): Thing {
    this.#stops.push(() => thing.stop());
    return thing;
  }

  /** Remembers to close it. */
  closing<Thing extends { close(): unknown }>(thing: Thing): Thing {
    this.#stops.push(() => thing.close());
    return thing;
  }

  /** Stops everything. */
  async stopAll(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      await stop();
    }
  }
}
