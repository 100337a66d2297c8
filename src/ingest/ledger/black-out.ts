import type { DuckDBConnection } from '@duckdb/node-api';
import type { Redactor } from '../../config/secrets.ts';
import { chunksOf } from '../../duckdb/dialect/rows.ts';
import { runWithRows } from '../../duckdb/insert-rows.ts';
import { readMetadata, writeMetadata } from '../../warehouse/metadata.ts';

/** What the ledger keeps of the text of landing files: rejected rows, reasons, names of unknown fields. */
const keptTexts = [
  { table: 'rejects', column: 'raw', isCut: `length(raw) < raw_length` },
  { table: 'ingest_files', column: 'reason', isCut: 'false' },
  { table: 'ingest_warnings', column: 'field', isCut: 'false' },
] as const;

interface Kept {
  file_id: number;
  kept: string;
  is_cut: boolean;
}

const changeShape = { file_id: 'BIGINT', kept: 'VARCHAR', shown: 'VARCHAR' } as const;

/** For which secrets all that is kept was gone through. */
const doneFor = 'secrets_taken_out';

/**
 * Takes secrets out of what is kept of the run's files, `ofRun`: an SQL condition on `file_id`; and of all files where
 * the secrets are others than before. In the caller's transaction. Returns whether something kept before has changed.
 */
export async function blackOut(
  connection: DuckDBConnection,
  { redactor, digest }: { redactor: Redactor; digest: string },
  ofRun: string,
): Promise<boolean> {
  const isNew = (await readMetadata(connection, doneFor)) !== digest;
  let changed = 0;
  for (const { table, column, isCut } of keptTexts) {
    const changes: { file_id: number; kept: string; shown: string }[] = [];
    const rows = chunksOf(
      await connection.stream(
        `SELECT DISTINCT file_id, ${column} AS kept, ${isCut} AS is_cut FROM ${table} WHERE ${column} IS NOT NULL ${isNew ? '' : `AND ${ofRun}`}`,
      ),
    ) as AsyncIterable<Kept[]>;
    for await (const chunk of rows)
      for (const { file_id, kept, is_cut } of chunk) {
        const shown = redactor.redact(kept, { isCut: is_cut });
        if (shown !== kept) changes.push({ file_id, kept, shown });
      }
    await runWithRows(
      connection,
      changeShape,
      changes,
      `UPDATE ${table} SET ${column} = rows.shown FROM rows WHERE ${table}.file_id = rows.file_id AND ${table}.${column} = rows.kept`,
    );
    changed += changes.length;
  }
  if (isNew) await writeMetadata(connection, doneFor, digest);
  return isNew && changed > 0;
}
