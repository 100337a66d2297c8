import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import type { Run } from '../../runs/stage.ts';
import { roundedAdvice, roundedId } from '../../../kit/text/rounded-id.ts';

/** Warns of the files of this run whose ids a spreadsheet has rounded: most likely they are to be exported anew. */
export async function warnOfRoundedIds(run: Run, connection: DuckDBConnection): Promise<void> {
  const rounded = await queryRows<{ file: string; field: string; rows: number }>(
    connection,
    `SELECT path AS file, field, ingest_warnings.rows FROM ingest_warnings JOIN ingest_files USING (file_id)
     WHERE run_id = ${run.runId} AND warning = '${roundedId}' ORDER BY path, field LIMIT ${maxWarnings}`,
  );
  for (const about of rounded) run.logger.warn(about, roundedAdvice);
}

/** The others are in the ledger. */
const maxWarnings = 20;
