/** Work that is under way once at a time: a call meanwhile waits for its end. */
export class SingleFlight {
  readonly #work: () => Promise<void>;
  #underWay: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  run(): Promise<void> {
    return (this.#underWay ??= this.#work().finally(() => (this.#underWay = undefined)));
  }

  /** Resolves once nothing is under way, failed or not. */
  async settled(): Promise<void> {
    await this.#underWay?.catch(() => undefined);
  }
}
