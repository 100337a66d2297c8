import type { DuckDBConnection } from '@duckdb/node-api';
import { OfferlineError } from '../../errors/errors.ts';
import { queryRows } from '../../duckdb/dialect/rows.ts';
import { readMetadata, writeMetadata } from '../../warehouse/metadata.ts';

/** What DuckDB's hash gave for a known text when this warehouse's first event file was written. */
const probeKey = 'event_key_of_offerline';

/**
 * Makes sure that this DuckDB hashes as the one did that wrote the event files: with other keys every duplicate of
 * history would pass as new. Throws `OfferlineError` where it does not.
 */
export async function assertSameEventKeys(connection: DuckDBConnection): Promise<void> {
  const [probe] = await queryRows<{ key: string; version: string }>(
    connection,
    `SELECT hash('offerline')::VARCHAR AS key, version() AS version`,
  );
  const key = probe?.key ?? '';
  const known = await readMetadata(connection, probeKey);
  if (known === undefined) await writeMetadata(connection, probeKey, key);
  else if (known !== key) {
    throw new OfferlineError(
      `DuckDB ${probe?.version} computes other event keys than the version that wrote warehouse/events; duplicates would not be found. Run the earlier version, or move the warehouse folder away and ingest the landing folder again`,
    );
  }
}
