import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import type { LandingKind } from '../../../kit/vocabulary/values.ts';
import { conflictCure } from '../../inspect/conflict-cure.ts';
import type { Run } from '../../runs/stage.ts';

/** Warns of the files of this run with records that do not count, since the first one under their id says otherwise. */
export async function warnOfConflicts(run: Run, connection: DuckDBConnection): Promise<void> {
  const files = await queryRows<{ file: string; rows: number; kind: LandingKind }>(
    connection,
    `SELECT path AS file, conflicts AS rows, kind FROM ingest_files
     WHERE run_id = ${run.runId} AND conflicts > 0 ORDER BY path LIMIT ${maxWarnings}`,
  );
  for (const { kind, ...about } of files)
    run.logger.warn(
      about,
      `rows say something else than the first one under their id, and do not count: ${conflictCure(kind)}`,
    );
}

/** The others are in the ledger. */
const maxWarnings = 20;
