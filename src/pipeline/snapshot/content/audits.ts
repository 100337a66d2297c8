import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { AuditError, type AuditFailure } from '../../../kit/errors/errors.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { modelNames, readModel, type SqlModel } from '../../sql/sql-model.ts';
import { openAudited, type Audited } from './audited.ts';
import { analyticsTables } from './published-tables.ts';

/** Bad rows shown of a failed audit; their number is always told. */
const sampleRows = 3;

export interface Audit {
  name: string;
  /** Gives the rows that break its law; none where all is well. */
  query: string;
}

/**
 * Runs every audit over the snapshot being built, attached as `snapshot`. Returns their number. Throws `AuditError`
 * naming those that found bad rows, and some of the rows. What is looked at of history: `openAudited`.
 */
export async function auditSnapshot(
  connection: DuckDBConnection,
  data: DataDirectory,
  publishedRunId: number,
  parquet: (group: string) => string[],
): Promise<number> {
  const audits = snapshotAudits(await openAudited(connection, data, publishedRunId, parquet));
  const failures: AuditFailure[] = [];
  for (const { name, query } of audits) {
    const sample = await queryRows(connection, `SELECT * FROM (${query}) LIMIT ${sampleRows}`);
    if (sample.length === 0) continue;
    const [bad] = await queryRows<{ rows: number }>(connection, `SELECT count(*) AS rows FROM (${query})`);
    failures.push({ audit: name, badRows: bad?.rows ?? sample.length, sample });
  }
  if (failures.length > 0) throw new AuditError(failures);
  return audits.length;
}

/** The queries of `sql/audits`, which read what is audited by its name, and the one that follows from models' keys. */
export function snapshotAudits(audited: Audited): Audit[] {
  return [
    { name: 'keys_are_unique', query: keysQuery(audited) },
    ...modelNames('audits').map((name) => ({ name, query: modelQuery('audits', name) })),
  ];
}

/** The key that a published table's header promises holds: one row per key that is there more than once. */
function keysQuery({ marts, clickIds }: Audited): string {
  const queries = [
    ...analyticsTables.map((name) => repeatedKeys(readModel('marts', name), `snapshot.${name}`)),
    ...marts.map(({ mart, rows }) => repeatedKeys(readModel('marts', mart), rows)),
    repeatedKeys(readModel('marts', 'clicks'), clickIds),
  ];
  return queries.join('\nUNION ALL\n');
}

function repeatedKeys({ name, key }: SqlModel, relation: string): string {
  const columns = key.join(', ');
  return `SELECT '${name}' AS table_name, concat_ws(' ', ${columns}) AS key FROM ${relation} GROUP BY ${columns} HAVING count(*) > 1`;
}
