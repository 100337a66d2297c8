import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { AuditError, type AuditFailure } from '../../../kit/errors/errors.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { modelNames, readModel, type SqlModel } from '../../sql/sql-model.ts';
import type { Run } from '../../runs/stage.ts';
import type { Manifest } from '../manifest.ts';
import { openAudited, type Audited } from './audited.ts';
import { analyticsTables } from './published-tables.ts';

/** Bad rows that the error of a failed audit shows, beside their number. */
const maxSampleRows = 3;

interface Audit {
  name: string;
  /** Query for the rows that fail the audit. */
  query: string;
}

/**
 * Runs every audit over the snapshot being built, attached as `snapshot`, and over the part of history that
 * `openAudited` opens. Returns the number of audits. Throws `AuditError` with the failed audits and some bad rows.
 */
export async function auditSnapshot(
  connection: DuckDBConnection,
  run: Pick<Run, 'data' | 'asOf'>,
  published: Pick<Manifest, 'run_id' | 'as_of'> | undefined,
  parquet: (group: string) => string[],
): Promise<number> {
  const audits = snapshotAudits(await openAudited(connection, run, published, parquet));
  const failures: AuditFailure[] = [];
  for (const { name, query } of audits) {
    const sample = await queryRows(connection, `SELECT * FROM (${query}) LIMIT ${maxSampleRows}`);
    if (sample.length === 0) continue;
    const [bad] = await queryRows<{ rows: number }>(connection, `SELECT count(*) AS rows FROM (${query})`);
    failures.push({ audit: name, badRows: bad?.rows ?? sample.length, sample });
  }
  if (failures.length > 0) throw new AuditError(failures);
  return audits.length;
}

/** Returns the queries of `sql/audits`, and the audit of the keys in the models' headers. */
export function snapshotAudits(audited: Audited): Audit[] {
  return [
    { name: 'keys_are_unique', query: keysQuery(audited) },
    ...modelNames('audits').map((name) => ({ name, query: modelQuery('audits', name) })),
  ];
}

/** Returns a query for keys of published tables that occur more than once. */
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
