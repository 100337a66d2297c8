import type { DuckDBConnection } from '@duckdb/node-api';
import { textKey } from '../../kit/vocabulary/event-key.ts';
import { eventFilesOfClick, type ClickFiles } from './click-files.ts';
import {
  clickedOfferQuery,
  clickQuery,
  clicksIn,
  conversionsQuery,
  filesQuery,
  postbacksQuery,
} from './click-queries.ts';
import type { SnapshotConnections } from './snapshot-connections.ts';

/** Moments are microseconds since the epoch, as text. */
export interface FoundClick {
  click: {
    click_id: string;
    /** Null where no catalog has the offer yet, and the click names it by its source's own id. */
    offer_id: number | null;
    offer_title: string | null;
    /** Null where no catalog has the offer yet, as its title. */
    offer_source: string | null;
    user_id: string;
    site_key: string;
    clicked_at: string;
    country: string | null;
    device: string | null;
    sub1: string | null;
    sub2: string | null;
  };
  conversions: FoundConversion[];
  postbacks: FoundPostback[];
}

export interface ClickedOffer {
  /** Null where no catalog has the offer yet. */
  offer_id: number | null;
  site_key: string;
  user_id: string;
  /** Microseconds since the epoch, as text. */
  clicked_at: string;
}

export interface FoundConversion {
  conversion_id: string;
  event_id: string | null;
  status: string;
  /** Gross USD. */
  payout: string | null;
  credited_at: string | null;
  reversed_at: string | null;
  reason: string | null;
}

export interface FoundPostback {
  /** credit, reject or chargeback. */
  event: string;
  /** Amount in the site's points. */
  reward: string;
  state: string;
  attempts: number;
  last_attempt_at: string | null;
  last_status: number | null;
}

/** Number of files above which all are asked for their keys before any is asked for the click. */
const fewFiles = 4;

/** Looks up clicks in a snapshot. Of its event files it asks those of the days that the key runs name. */
export class SnapshotClicks {
  readonly #connections: SnapshotConnections;

  constructor(connections: SnapshotConnections) {
    this.#connections = connections;
  }

  /**
   * A site's click with what became of it; undefined where the site has no such click. Throws `ApiError` where too many
   * wait already.
   */
  find(clickId: string, siteKey: string): Promise<FoundClick | undefined> {
    return this.#connections.ask(async (connection, { files }) => {
      const queryOf = (clicks: string) => clickQuery(clicks, soughtKey);
      const click = await findClick<FoundClick['click']>(connection, files, queryOf, [clickId, siteKey]);
      if (click === undefined) return undefined;
      const conversions = await foundBy<FoundConversion>(connection, conversionsQuery, [clickId]);
      // Most clicks have no conversion, and then there is no postback.
      const postbacks =
        conversions.length === 0 ? [] : await foundBy<FoundPostback>(connection, postbacksQuery, [clickId]);
      return { click, conversions, postbacks };
    });
  }

  /** Returns the offer of a click of any site; undefined where there is no such click. Throws as `find` does. */
  findOffer(clickId: string): Promise<ClickedOffer | undefined> {
    const queryOf = (clicks: string) => clickedOfferQuery(clicks, soughtKey);
    return this.#connections.ask((connection, { files }) =>
      findClick<ClickedOffer>(connection, files, queryOf, [clickId]),
    );
  }
}

/** SQL of the key of the click that is asked for. */
const soughtKey = textKey('$1::VARCHAR');

/** `values` of the query: the click's id first. */
async function findClick<Click>(
  connection: DuckDBConnection,
  files: ClickFiles,
  queryOf: (clicks: string) => string,
  values: [clickId: string, ...string[]],
): Promise<Click | undefined> {
  // No event file: the view is empty, or its rows are in the database.
  if (files.events.length === 0) return (await foundBy<Click>(connection, queryOf('clicks'), values))[0];
  const [clickId] = values;
  let holding = eventFilesOfClick(files, clickId);
  if (holding.length > fewFiles)
    holding = (await rowsOf<{ filename: string }>(connection, filesQuery(holding, soughtKey), [clickId])).map(
      ({ filename }) => filename,
    );
  if (holding.length === 0) return undefined;
  const [click] = await foundBy<Click>(connection, queryOf(clicksIn(holding)), values);
  return click;
}

async function rowsOf<Row>(connection: DuckDBConnection, query: string, values: string[]): Promise<Row[]> {
  return (await connection.runAndReadAll(query, values)).getRowObjectsJson() as Row[];
}

async function foundBy<Row>(connection: DuckDBConnection, query: string, values: string[]): Promise<Row[]> {
  return (await rowsOf<{ found: string }>(connection, query, values)).map(({ found }) => JSON.parse(found) as Row);
}
