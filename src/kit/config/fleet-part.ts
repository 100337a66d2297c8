import { UsageError } from '../errors/errors.ts';

/**
 * A part of `fleet` that settings may ask for. The core names its type alone; `src/cli/compose.ts` hands it in. So a
 * build without `fleet` compiles, and runs as long as no setting asks for it.
 */
export class FleetPart<Part> {
  readonly #setting: string;
  #load: (() => Promise<Part>) | undefined;

  /** The setting that asks for it, as it is in offerline.json. */
  constructor(setting: string) {
    this.#setting = setting;
  }

  /** Once, at the start of a program. Loaded where it is asked for: most commands start without. */
  handIn(load: () => Promise<Part>): void {
    this.#load = load;
  }

  /** Throws `UsageError` in a build without it. */
  async load(): Promise<Part> {
    if (this.#load === undefined)
      throw new UsageError(
        `this build has no fleet: take "${this.#setting}" out of offerline.json, or use a build with src/fleet`,
      );
    return this.#load();
  }
}
