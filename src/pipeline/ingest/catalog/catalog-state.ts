import type { DuckDBConnection } from '@duckdb/node-api';
import { sql } from 'kysely';
import { listed } from '../../../kit/duckdb/dialect/listed.ts';
import { kyselyOn } from '../../warehouse/kysely.ts';
import type { LoadedExport } from './catalog-files.ts';
import type { OfferName } from './catalog-ids.ts';
import type { KnownOffer, PresentOffer } from './catalog-plan.ts';
import { seenNs } from '../ledger/ledger.ts';

/** Every offer of one source, gone ones too, by id. */
export function readPresentOffers(connection: DuckDBConnection, source: string): Promise<PresentOffer[]> {
  return kyselyOn(connection)
    .selectFrom('offers as offer')
    .innerJoin('offer_versions as version', 'version.offer_id', 'offer.offer_id')
    .select((offer) => [
      'external_id as externalId',
      offer.fn<PresentOffer['status']>('arg_max', ['status', 'version.version']).as('status'),
    ])
    .where('source', '=', source)
    .groupBy(['offer.offer_id', 'external_id'])
    .orderBy('offer.offer_id')
    .execute();
}

/** The present version of each of these offers of one source that the catalog has, gone ones too. */
export function readKnownOffers(
  connection: DuckDBConnection,
  source: string,
  externalIds: readonly string[],
): Promise<KnownOffer[]> {
  return kyselyOn(connection)
    .selectFrom('offers as offer')
    .innerJoin('offer_versions as version', 'version.offer_id', 'offer.offer_id')
    .select([
      'source',
      'offer.offer_id as offerId',
      'external_id as externalId',
      'first_seen_at as firstSeenAt',
      'version.version',
      'status',
      'valid_from as validFrom',
      'created_at as createdAt',
      'updated_at as updatedAt',
      'content_sha256 as contentSha256',
      'published_sha256 as publishedSha256',
      'destination_url as destinationUrl',
    ])
    .distinctOn('offer.offer_id')
    .where('source', '=', source)
    .where('external_id', 'in', listed<string>(externalIds, 'VARCHAR'))
    .orderBy('offer.offer_id')
    .orderBy('version.version', 'desc')
    .execute();
}

/** Every public id ever used, with the offer that has it; or the owners of these. */
export function readIdOwners(
  connection: DuckDBConnection,
  ids?: readonly number[],
): Promise<(OfferName & { offerId: number })[]> {
  return kyselyOn(connection)
    .selectFrom('offers')
    .select(['offer_id as offerId', 'source', 'external_id as externalId'])
    .$if(ids !== undefined, (owners) => owners.where('offer_id', 'in', listed<number>(ids ?? [], 'INTEGER')))
    .execute();
}

/** The export of a source that was loaded last. */
export async function readLoadedExport(
  connection: DuckDBConnection,
  source: string,
): Promise<LoadedExport | undefined> {
  // Nanoseconds since the epoch do not fit a JavaScript number.
  const loaded = await kyselyOn(connection)
    .selectFrom('ingest_files')
    .select(['path', 'sha256', sql.raw<string>(seenNs).as('seen_ns')])
    .where('kind', '=', 'offers')
    .where('source', '=', source)
    .where('status', '=', 'loaded')
    .orderBy('file_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return loaded && { path: loaded.path, sha256: loaded.sha256, seenNs: BigInt(loaded.seen_ns) };
}
