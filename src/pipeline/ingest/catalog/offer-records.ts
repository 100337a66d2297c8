import type { DuckDBConnection } from '@duckdb/node-api';
import { sql } from 'kysely';
import { insertInto } from '../../warehouse/insert-into.ts';
import type { IngestWarning } from '../../landing/landing-file.ts';
import { momentOfMilliseconds, type Moment } from '../../../kit/time/moment.ts';
import { listed } from '../../../kit/duckdb/dialect/listed.ts';
import { kyselyOn } from '../../warehouse/kysely.ts';

/** Remarks of an accepted record beside its offer. */
export interface RecordRemarks {
  /** The one that it names, other than USD. */
  currency?: string;
  warnings?: IngestWarning[];
}

/** A record that its offer's present version follows from: the same one once more changes nothing. */
export interface KnownRecord {
  externalId: string;
  /** JSON of `RecordRemarks`; null where there are none. */
  remarks: string | null;
}

/** Known records by the digests of their texts. */
export type KnownRecords = ReadonlyMap<string, KnownRecord>;

/** A record and the version that says all that it says. */
export interface SettledRecord {
  offerId: number;
  version: number;
  recordSha256: string;
  readAsSha256: string;
  remarks: string | null;
}

/** Longer ones are not kept, and their record is read each time: its field names may be as long as a file. */
const maxRemarkCharacters = 1000;

/** Returns undefined where the remarks are too long to be kept. */
export function remarksText(remarks: RecordRemarks): string | null | undefined {
  if (remarks.currency === undefined && (remarks.warnings ?? []).length === 0) return null;
  const text = JSON.stringify(remarks);
  return text.length > maxRemarkCharacters ? undefined : text;
}

/** The records of a source's present versions that a reading of this kind, now, would make nothing else of. */
export async function readKnownRecords(
  connection: DuckDBConnection,
  source: string,
  readAsSha256: string,
  wallClock: Date,
): Promise<KnownRecords> {
  const records = await kyselyOn(connection)
    .selectFrom('offer_records as record')
    .innerJoin('offers as offer', 'offer.offer_id', 'record.offer_id')
    .select(['record_sha256 as recordSha256', 'external_id as externalId', 'remarks'])
    .where('offer.source', '=', source)
    .where('read_as_sha256', '=', readAsSha256)
    .where('read_at', '<=', momentOf(wallClock))
    .where(
      sql<boolean>`(record.offer_id, record.version) IN (SELECT (offer_id, max(version)) FROM offer_versions GROUP BY offer_id)`,
    )
    .execute();
  return new Map(records.map(({ recordSha256, ...known }) => [recordSha256, known]));
}

/** Replaces the known records of these offers. The table has no key: to keep one takes as long as all else here. */
export async function writeSettledRecords(
  connection: DuckDBConnection,
  records: readonly SettledRecord[],
  wallClock: Date,
): Promise<void> {
  if (records.length === 0) return;
  await forgetRecords(
    connection,
    records.map(({ offerId }) => offerId),
  );
  await insertInto(
    connection,
    'offer_records',
    records.map(({ offerId, version, recordSha256, readAsSha256, remarks }) => ({
      offer_id: offerId,
      version,
      record_sha256: recordSha256,
      read_as_sha256: readAsSha256,
      read_at: momentOf(wallClock),
      remarks,
    })),
  );
}

async function forgetRecords(connection: DuckDBConnection, offerIds: readonly number[]): Promise<void> {
  await kyselyOn(connection)
    .deleteFrom('offer_records')
    .where('offer_id', 'in', listed<number>(offerIds, 'INTEGER'))
    .execute();
}

function momentOf(wallClock: Date): Moment {
  return momentOfMilliseconds(wallClock.getTime());
}
