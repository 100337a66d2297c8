import type { ClickIds } from '../../clicks/click-id.ts';

/** A user of a site: the same name on another site is somebody else. */
export interface ClickUser {
  siteKey: string;
  userId: string;
}

/** What is known of the click that a report names. */
export interface NamedClick {
  /** As its row has it. */
  clickId: string;
  /** Undefined where the click is on an offer that no catalog has yet. */
  offerId: number | undefined;
  /** Milliseconds since the epoch. */
  clickedAt: number;
  /** Of one that was looked up: an id of ours does not say it. */
  user?: ClickUser | undefined;
}

/** Clicks that the tracker did not make: those of the published snapshot. */
export type ImportedClicks = (clickId: string) => Promise<NamedClick | undefined>;

/**
 * Finds clicks: ours by their own text, whatever the load and although their rows may not be published yet, others by
 * looking them up.
 */
export class KnownClicks {
  readonly #ids: Pick<ClickIds, 'verify'>;
  readonly #imported: ImportedClicks;

  constructor(ids: Pick<ClickIds, 'verify'>, imported: ImportedClicks) {
    this.#ids = ids;
    this.#imported = imported;
  }

  /** Rejects where a click cannot be looked up now. */
  find(clickId: string): Promise<NamedClick | undefined> {
    // Some networks write all they are given in capitals.
    const own = clickId.toLowerCase();
    const known = this.#ids.verify(own);
    if (known === undefined) return this.#imported(clickId);
    return Promise.resolve({ clickId: own, offerId: known.offerId, clickedAt: known.mintedAt });
  }
}
