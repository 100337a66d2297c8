import type { DuckDBConnection } from '@duckdb/node-api';
import { chunksOf } from '../../kit/duckdb/dialect/rows.ts';
import { shortestDecimal } from '../../kit/text/sql-text.ts';
import type { Run } from '../runs/stage.ts';
import { dateOf } from '../../kit/time/moment.ts';
import { namesClick, readDestination, unknownMacros } from '../routes/destination.ts';
import { writeRoutes } from '../routes/publish-routes.ts';

/** Writes the destinations of a snapshot's offers, gone ones too, for the tracker. */
export async function publishRoutes(run: Run, connection: DuckDBConnection, snapshotId: string): Promise<void> {
  const lines: Buffer[] = [];
  const notes = new DestinationNotes(run.settings.tracker.sources);
  const rows = chunksOf(await connection.stream(routeLines(dateOf(run.asOf).getTime()))) as AsyncIterable<Line[]>;
  for await (const chunk of rows) {
    for (const { line, ...offer } of chunk) {
      lines.push(Buffer.from(`${line}\n`));
      notes.add(offer);
    }
  }
  notes.log(run);
  await writeRoutes(run.data, { snapshot_id: snapshotId, as_of: run.asOf }, lines, run.effects.files);
}

interface Line {
  line: string;
  offer_id: number;
  source: string;
  is_active: boolean;
  destination_url: string | null;
}

/** Age of the oldest click that a source may have credited, in milliseconds. */
const maxFormerAge = 366 * 86_400_000;
/** Former payouts of an offer: one whose payout changes with each export would grow for ever. */
const maxFormer = 100;

/** Returns SQL for a version's payout and milestones, under the names that routes have. */
const paid = (version: string) => ({
  payout: shortestDecimal(`${version}.payout`),
  events: `from_json(${version}.events, '[{"event_id":"VARCHAR","payout":"VARCHAR"}]')`,
});
const [paidBefore, paidNow] = [paid('followed'), paid('version')];

/** Returns SQL for the lines of routes, without milestones' descriptions. `asOf` in milliseconds since the epoch. */
const routeLines = (asOf: number) => `
  WITH followed AS (
    SELECT offer_id, version, payout, events, epoch_ms(lead(valid_from) OVER by_version) AS until,
      lead(payout) OVER by_version AS next_payout, lead(events) OVER by_version AS next_events
    FROM offer_versions
    WINDOW by_version AS (PARTITION BY offer_id ORDER BY version)
  ),
  former AS (
    SELECT offer_id,
      list({until: until, payout: ${paidBefore.payout}, events: ${paidBefore.events}} ORDER BY version)[-${maxFormer}:] AS former
    FROM followed
    WHERE until > ${asOf - maxFormerAge} AND (payout, events) IS DISTINCT FROM (next_payout, next_events)
    GROUP BY offer_id
  )
  SELECT to_json(route)::VARCHAR AS line, route.offer_id, route.source, route.status = 'active' AS is_active,
    route.destination_url
  FROM (
    SELECT version.offer_id, offers.source, offers.external_id, version.status,
      ${paidNow.payout} AS payout,
      ${paidNow.events} AS events,
      coalesce(former.former, []) AS former,
      version.destination_url, version.countries, version.devices, version.android_min_os, version.ios_min_os,
      version.categories, version.formats, version.daily_cap, version.daily_click_cap
    FROM offer_versions AS version
    JOIN offers ON offers.offer_id = version.offer_id
    LEFT JOIN former ON former.offer_id = version.offer_id
    QUALIFY row_number() OVER (PARTITION BY version.offer_id ORDER BY version.version DESC) = 1
  ) AS route
  ORDER BY route.offer_id`;

const maxNamed = 5;

/** Warnings about active offers' destinations: one log line for each kind of trouble, not for each offer. */
class DestinationNotes {
  readonly #sources: Run['settings']['tracker']['sources'];
  readonly #offers = new Map<string, number[]>();

  constructor(sources: Run['settings']['tracker']['sources']) {
    this.#sources = sources;
  }

  add({ offer_id, source, is_active, destination_url }: Omit<Line, 'line'>): void {
    if (!is_active) return;
    if (destination_url === null)
      return this.#note(
        'active offers have no destination_url: their clicks are refused, or led to fallback_url',
        offer_id,
      );
    const settings = this.#sources[source];
    const destination = readDestination(destination_url, settings);
    if ('mistake' in destination)
      return this.#note(`the destination ${destination.mistake}: clicks are refused`, offer_id);
    if (!namesClick(destination))
      this.#note(
        'the destination takes no click id, so that its conversions cannot be attributed: add {click_id}, or name the parameter for it in tracker.sources.<source>.append_click_id of offerline.json, or in click_id of the offers that sources.json declares',
        offer_id,
      );
    for (const { macro, remedy } of unknownMacros(destination_url, settings))
      this.#note(`nobody fills ${macro}, which stays: ${remedy}`, offer_id);
  }

  log({ logger }: Run): void {
    for (const [note, offers] of this.#offers)
      logger.warn({ offers: offers.length, first: offers.slice(0, maxNamed) }, note);
  }

  #note(note: string, offerId: number): void {
    const offers = this.#offers.get(note);
    if (offers === undefined) this.#offers.set(note, [offerId]);
    else offers.push(offerId);
  }
}
