import type { DuckDBConnection } from '@duckdb/node-api';
import type { Redactor } from '../../../kit/config/secrets.ts';
import { chunksOf } from '../../../kit/duckdb/dialect/rows.ts';
import { runWithRows } from '../../../kit/duckdb/insert-rows.ts';
import type { Run } from '../../runs/stage.ts';
import { readMetadata, writeMetadata } from '../../warehouse/metadata.ts';
import { kyselyOn } from '../../warehouse/kysely.ts';

/** Columns that keep text of landing files: rejected rows, reasons, names of unknown fields. */
const keptTexts = [
  { table: 'rejects', column: 'raw', isCut: `length(raw) < raw_length` },
  { table: 'ingest_files', column: 'reason', isCut: 'false' },
  { table: 'ingest_warnings', column: 'field', isCut: 'false' },
] as const;

interface Kept {
  file_id: number;
  kept: string;
  digest: string;
  is_cut: boolean;
  of_run: boolean;
}

const changeShape = { file_id: 'BIGINT', digest: 'VARCHAR', shown: 'VARCHAR' } as const;

/** Files that are named; the others are counted. */
const maxNamed = 5;

/**
 * Metadata: digests of the secrets that all kept texts were searched for, separated by blanks. Another name where more
 * spellings are found: `secrets_taken_out` was for those before %21 and the like.
 */
const doneFor = 'secrets_redacted';

/**
 * Takes secrets out of what is kept of the run's files, `ofRun`: an SQL condition on `file_id`, undefined without any
 * file; and of all files where there is a secret that they were not gone through for; and says which files had some. In
 * the caller's transaction. Returns whether something that was kept before has changed.
 */
export async function redactKeptTexts(
  { logger, connection }: Pick<Run, 'logger'> & { connection: DuckDBConnection },
  { redactor, digests }: { redactor: Redactor; digests: readonly string[] },
  ofRun: string | undefined,
): Promise<boolean> {
  const done = (await readMetadata(connection, doneFor)) ?? '';
  const before = new Set(done.split(' '));
  const isNew = digests.some((digest) => !before.has(digest));
  if (!isNew && ofRun === undefined) return false;
  let isKept = false;
  const files = new Set<number>();
  for (const { table, column, isCut } of keptTexts) {
    const changes: { file_id: number; digest: string; shown: string }[] = [];
    const rows = chunksOf(
      await connection.stream(
        `SELECT DISTINCT file_id, ${column} AS kept, md5(${column}) AS digest, ${isCut} AS is_cut, ${ofRun ?? 'false'} AS of_run FROM ${table} WHERE ${column} IS NOT NULL ${isNew ? '' : `AND ${ofRun}`}`,
      ),
    ) as AsyncIterable<Kept[]>;
    for await (const chunk of rows)
      for (const { file_id, kept, digest, is_cut, of_run } of chunk) {
        isKept ||= of_run;
        const shown = redactor.redact(kept, { isCut: is_cut });
        if (shown !== kept) changes.push({ file_id, digest, shown });
      }
    await runWithRows(
      connection,
      changeShape,
      changes,
      `UPDATE ${table} SET ${column} = rows.shown FROM rows WHERE ${table}.file_id = rows.file_id AND md5(${table}.${column}) = rows.digest`,
    );
    for (const { file_id } of changes) files.add(file_id);
  }
  // A run may not know secrets that others know, such as those of variables: what it keeps is gone through for them
  // later, and what was gone through stays so.
  const doneNow = (isKept ? digests : [...new Set([...before, ...digests])].toSorted()).join(' ');
  if (doneNow !== done) await writeMetadata(connection, doneFor, doneNow);
  if (files.size > 0) logger.warn({ files: files.size, first: await pathsOf(connection, files) }, secretsLanded);
  return isNew && files.size > 0;
}

const secretsLanded =
  'landing files hold secrets of the configuration: the kept text of these files is redacted; move these files away, change the secrets, and know that snapshots published before may have them until they are retired';

async function pathsOf(connection: DuckDBConnection, files: ReadonlySet<number>): Promise<string[]> {
  const rows = await kyselyOn(connection)
    .selectFrom('ingest_files')
    .select('path')
    .where('file_id', 'in', [...files].slice(0, maxNamed))
    .orderBy('path')
    .execute();
  return rows.map(({ path }) => path);
}
