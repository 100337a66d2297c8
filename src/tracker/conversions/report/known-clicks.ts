import type { ClickIds } from '../../clicks/click-id.ts';

/** A user of a site; the same name on another site is another person. */
export interface ClickUser {
  siteKey: string;
  userId: string;
}

/** The click that a report names. */
export interface NamedClick {
  /** The id as in the click's row. */
  clickId: string;
  /** Undefined where the click is on an offer that no catalog has yet. */
  offerId: number | undefined;
  /** Milliseconds since the epoch. */
  clickedAt: number;
  /** Known of a click that was looked up; an id of the tracker's does not contain it. */
  user?: ClickUser | undefined;
}

/** Looks up a click that the tracker did not make, in the published snapshot. */
export type FindImportedClick = (clickId: string) => Promise<NamedClick | undefined>;

/**
 * Finds clicks: the tracker's own by their ids, also before their rows are published, and others in the published
 * snapshot.
 */
export class KnownClicks {
  readonly #ids: Pick<ClickIds, 'verify'>;
  readonly #imported: FindImportedClick;

  constructor(ids: Pick<ClickIds, 'verify'>, imported: FindImportedClick) {
    this.#ids = ids;
    this.#imported = imported;
  }

  /** Rejects where a click cannot be looked up now. */
  find(clickId: string): Promise<NamedClick | undefined> {
    // Some networks write all values in capitals.
    const own = clickId.toLowerCase();
    const known = this.#ids.verify(own);
    if (known === undefined) return this.#imported(clickId);
    return Promise.resolve({ clickId: own, offerId: known.offerId, clickedAt: known.mintedAt });
  }
}
