import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../duckdb/dialect/rows.ts';
import type { LoadedExport } from './catalog-files.ts';
import type { OfferName } from './catalog-ids.ts';
import type { KnownOffer } from './catalog-plan.ts';
import { seenNs } from '../ledger/ledger.ts';

/** The present version of every offer of one source, gone ones too. */
export function readKnownOffers(connection: DuckDBConnection, source: string): Promise<KnownOffer[]> {
  return queryRows<KnownOffer>(
    connection,
    `SELECT source, offer_id AS "offerId", external_id AS "externalId", first_seen_at AS "firstSeenAt", version, status,
       valid_from AS "validFrom", created_at AS "createdAt", updated_at AS "updatedAt", content_sha256 AS "contentSha256", published_sha256 AS "publishedSha256",
       destination_url AS "destinationUrl"
     FROM offers JOIN offer_versions USING (offer_id)
     WHERE source = $1
     QUALIFY row_number() OVER (PARTITION BY offer_id ORDER BY version DESC) = 1
     ORDER BY offer_id`,
    [source],
  );
}

/** Every public id ever used, with the offer that has it. */
export function readIdOwners(connection: DuckDBConnection): Promise<(OfferName & { offerId: number })[]> {
  return queryRows(connection, 'SELECT offer_id AS "offerId", source, external_id AS "externalId" FROM offers');
}

/** The export of a source that was loaded last. */
export async function readLoadedExport(
  connection: DuckDBConnection,
  source: string,
): Promise<LoadedExport | undefined> {
  // Nanoseconds since the epoch do not fit a JavaScript number.
  const [loaded] = await queryRows<{ path: string; sha256: string; seen_ns: string }>(
    connection,
    `SELECT path, sha256, ${seenNs} AS seen_ns FROM ingest_files
     WHERE kind = 'offers' AND source = $1 AND status = 'loaded' ORDER BY file_id DESC LIMIT 1`,
    [source],
  );
  return loaded && { path: loaded.path, sha256: loaded.sha256, seenNs: BigInt(loaded.seen_ns) };
}
