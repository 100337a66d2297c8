import { hash } from 'node:crypto';
import { ApiError } from '../../../kit/http/errors.ts';
import { parseIsoMoment } from '../../../kit/time/iso-moment.ts';
import { defaultLimit } from './parameters.ts';

/** Place in a list that is ordered by an id. */
interface PagePlace {
  /** Id of the last row of the page before; empty for the first page. */
  after: string;
  /** As-of of the snapshot that the first page was made of. */
  since: string;
}

/**
 * A list that is walked page by page: what is asked, of which site, by which filters. Its cursors hold for nothing
 * else; since each page is asked for by the site's own credentials, a forged one shows only what is the site's.
 */
export class PagedList {
  readonly #digest: string;

  constructor(operationId: string, siteKey: string, filters: object) {
    this.#digest = hash('sha256', JSON.stringify([operationId, siteKey, filters]), 'base64url').slice(0, 16);
  }

  /** The first page without a cursor. Throws `ApiError` for a cursor of another list. */
  #placeOf(cursor: string | undefined, asOf: string): PagePlace {
    if (cursor === undefined) return { after: '', since: asOf };
    const [digest, after, since] = partsOf(cursor);
    if (digest !== this.#digest || typeof after !== 'string' || typeof since !== 'string' || !isMoment(since))
      throw new ApiError(
        'wrong_parameter',
        'cursor is not one of this list: send it with the parameters of the page that gave it, or begin without one',
      );
    return { after, since };
  }

  /**
   * Returns the page that a cursor leads to. `find` gives the rows behind an id, one more than fit where there are
   * more; `asOf` is that of its snapshot. Throws `ApiError` for a cursor of another list.
   */
  async page<Row>(
    { cursor, limit = defaultLimit }: { cursor?: string | undefined; limit?: number | undefined },
    asOf: string,
    find: (asked: { after: string; limit: number }) => Promise<readonly Row[]>,
    idOf: (row: Row) => string,
  ) {
    const { after, since } = this.#placeOf(cursor, asOf);
    const found = await find({ after, limit: limit + 1 });
    const rows = found.slice(0, limit);
    const last = found.length > limit ? rows.at(-1) : undefined;
    const next = last === undefined ? null : JSON.stringify([this.#digest, idOf(last), since]);
    return {
      rows,
      since,
      pages: {
        has_more: next !== null,
        next_cursor: next === null ? null : Buffer.from(next).toString('base64url'),
      },
    };
  }
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

function isMoment(text: string): boolean {
  return parseIsoMoment(text) !== undefined;
}
