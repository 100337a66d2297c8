import type { DuckDBConnection } from '@duckdb/node-api';
import { insertInto } from '../../warehouse/insert-into.ts';
import { kyselyOn } from '../../warehouse/kysely.ts';
import type { CanonicalOffer } from '../../landing/catalog/canonical-offer.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import { offerColumns } from '../../../kit/vocabulary/offer-fields.ts';
import { runWithRows, type RowShape } from '../../../kit/duckdb/insert-rows.ts';
import type { Insertable } from 'kysely';
import type { OfferVersionEventsTable } from '../../warehouse/tables.ts';
import type { CatalogPlan, NewVersion } from './catalog-plan.ts';

interface VersionRow {
  offer_id: number;
  version: number;
  valid_from: Moment;
  updated_at: Moment;
  content_sha256: string;
  published_sha256: string;
}

const versionShape: RowShape<VersionRow> = {
  offer_id: 'INTEGER',
  version: 'INTEGER',
  valid_from: 'VARCHAR',
  updated_at: 'VARCHAR',
  content_sha256: 'VARCHAR',
  published_sha256: 'VARCHAR',
};

type ContentRow = VersionRow &
  Omit<CanonicalOffer, 'id' | 'external_id' | 'updated_at' | 'created_at'> & { created_at: Moment };

const contentShape: RowShape<ContentRow> = {
  ...versionShape,
  status: 'VARCHAR',
  ...offerColumns,
  events: 'JSON',
  created_at: 'VARCHAR',
};

/** Writes a plan's versions, with the identities of new offers. Expects to run within the caller's transaction. */
export async function writeVersions(
  connection: DuckDBConnection,
  versions: readonly NewVersion[],
  runId: number,
  asOf: Moment,
): Promise<void> {
  const run_id = BigInt(runId);
  const added = versions.filter(({ change }) => change === 'added');
  await insertInto(
    connection,
    'offers',
    added.map(({ offerId, source, externalId }) => ({
      offer_id: offerId,
      source,
      external_id: externalId,
      first_seen_at: asOf,
    })),
  );

  await runWithRows(
    connection,
    contentShape,
    versions.flatMap(contentRow),
    'INSERT INTO offer_versions BY NAME SELECT *, $run_id AS run_id FROM rows',
    { run_id },
  );
  await insertInto(connection, 'offer_version_events', versions.flatMap(eventRows));

  const vanished = versions.filter(({ content }) => content === null).map(versionRow);
  await runWithRows(
    connection,
    versionShape,
    vanished,
    `INSERT INTO offer_versions BY NAME
     SELECT last.* REPLACE (
       rows.version AS version, rows.valid_from::TIMESTAMPTZ AS valid_from, rows.updated_at::TIMESTAMPTZ AS updated_at, 'vanished' AS status,
       rows.content_sha256 AS content_sha256, rows.published_sha256 AS published_sha256, $run_id AS run_id)
     FROM rows JOIN offer_versions AS last ON last.offer_id = rows.offer_id AND last.version = rows.version - 1`,
    { run_id },
  );
  await runWithRows(
    connection,
    versionShape,
    vanished,
    `INSERT INTO offer_version_events BY NAME
     SELECT last.* REPLACE (rows.version AS version)
     FROM rows JOIN offer_version_events AS last ON last.offer_id = rows.offer_id AND last.version = rows.version - 1`,
  );
}

/** Fills in the destinations of versions that lack them although they had them. */
export async function writeDestinations(
  connection: DuckDBConnection,
  destinations: CatalogPlan['destinations'],
): Promise<void> {
  for (const { offerId, version, destinationUrl } of destinations) {
    await kyselyOn(connection)
      .updateTable('offer_versions')
      .set({ destination_url: destinationUrl })
      .where('offer_id', '=', offerId)
      .where('version', '=', version)
      .execute();
  }
}

function versionRow({
  offerId,
  version,
  validFrom,
  updatedAt,
  contentSha256,
  publishedSha256,
}: NewVersion): VersionRow {
  return {
    offer_id: offerId,
    version,
    valid_from: validFrom,
    updated_at: updatedAt,
    content_sha256: contentSha256,
    published_sha256: publishedSha256,
  };
}

function contentRow(version: NewVersion): ContentRow[] {
  if (version.content === null) return [];
  const { id: _id, external_id: _externalId, updated_at: _updatedAt, ...kept } = version.content.offer;
  return [{ ...kept, created_at: version.content.createdAt, ...versionRow(version) }];
}

function eventRows({ offerId, version, content }: NewVersion): Insertable<OfferVersionEventsTable>[] {
  return (content?.offer.events ?? []).map(({ event_id, payout }) => ({
    offer_id: offerId,
    version,
    event_id,
    payout,
  }));
}
