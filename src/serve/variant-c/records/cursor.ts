import { hash } from 'node:crypto';
import { ApiError } from '../../../kit/http/errors.ts';
import { parseIsoMoment } from '../../../kit/time/iso-moment.ts';

/** Place in a list that is ordered by an id. */
export interface PagePlace {
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
  placeOf(cursor: string | undefined, asOf: string): PagePlace {
    if (cursor === undefined) return { after: '', since: asOf };
    const [digest, after, since] = partsOf(cursor);
    if (digest !== this.#digest || typeof after !== 'string' || typeof since !== 'string' || !isMoment(since))
      throw new ApiError(
        'wrong_parameter',
        'cursor is not one of this list: send it with the parameters of the page that gave it, or begin without one',
      );
    return { after, since };
  }

  /** A page of the rows that were found, one more than fit where there are more. */
  page<Row>(found: readonly Row[], limit: number, { since }: PagePlace, idOf: (row: Row) => string) {
    const rows = found.slice(0, limit);
    const last = found.length > limit ? rows.at(-1) : undefined;
    const next = last === undefined ? null : JSON.stringify([this.#digest, idOf(last), since]);
    return {
      rows,
      has_more: next !== null,
      next_cursor: next === null ? null : Buffer.from(next).toString('base64url'),
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
