import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readWholeDatabase } from '../../kit/duckdb/check-database.ts';
import { isDamage, type StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { countRows, makeTempTable, makeTempView } from '../../kit/duckdb/temp-table.ts';
import { modelQuery } from '../sql/model-query.ts';
import { eventFilePaths, eventRelation } from '../warehouse/event-files.ts';
import { troubleWithKeyRuns } from '../warehouse/keys/upkeep.ts';
import { eventKinds } from '../../kit/vocabulary/values.ts';
import { namedFiles, unnamedFiles } from '../warehouse/named-files.ts';
import type { Day } from '../../kit/time/moment.ts';
import { daysOfWrongSums } from './examine-sums.ts';
import { note, trouble, type Finding } from './finding.ts';
import { troubledFiles, type TroubledFile } from '../recovery/restore-files.ts';

const rebuild = '`offerline rebuild --from-landing` reads all logs from the landing folder again';

export interface StateExamination {
  findings: Finding[];
  troubled: TroubledFile[];
  unnamed: string[];
  /** Days on which sums of marts differ from one another. */
  wrongSums: Day[];
}

/** Examines an open state and the files that it names. `deep` reads every value and every byte. */
export async function examineState(
  data: DataDirectory,
  state: StateDatabase,
  { deep, onRead }: { deep: boolean; onRead: (bytes: number) => void },
): Promise<StateExamination> {
  const { connection } = state;
  const findings: Finding[] = [];
  if (deep) {
    const damage = await readWholeDatabase(connection).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    if (damage !== undefined) {
      if (!isDamage(damage)) throw damage;
      findings.push(
        trouble(
          'state',
          data.stateFile,
          damage.message,
          'it is moved to put-aside/ and restored from the newest good copy',
        ),
      );
      return { findings, troubled: [], unnamed: [], wrongSums: [] };
    }
  }
  const troubled = await troubledFiles(data, await namedFiles(connection), deep, onRead);
  for (const { table, path, trouble: kind } of troubled) {
    const problem = {
      missing: 'is missing',
      size: 'has another size than its row says',
      sha256: 'has other bytes than its row says',
    }[kind];
    findings.push(
      trouble(
        'files',
        path,
        problem,
        table === 'event_files'
          ? 'it comes back from a snapshot that has its bytes; where none has, all logs are read from the landing folder again'
          : 'it comes back from a snapshot that has its bytes, else the models write it again',
      ),
    );
  }
  const unnamed = await unnamedFiles(connection, data);
  if (unnamed.length > 0)
    findings.push(
      note(
        'files',
        data.warehouse,
        `holds ${unnamed.length} files that no row names, the first ${unnamed[0]}`,
        'newer ones took their place, or an unfinished run left them; the next run removes them',
      ),
    );
  const ofCounts = [await ledgerFindings(connection)];
  // Missing or damaged event files cannot be counted.
  if (troubled.every(({ table }) => table !== 'event_files'))
    ofCounts.push(await keyFindings(connection, data, deep), await countFindings(connection, data, deep));
  for (const finding of ofCounts.flat()) findings.push(finding);
  const wrongSums = deep && troubled.length === 0 ? await daysOfWrongSums(connection, data) : [];
  if (wrongSums.length > 0)
    findings.push(
      trouble(
        'roll-up',
        'sums by hour, day and site',
        `differ on ${wrongSums.length} days, the first ${wrongSums[0]}`,
        'these days are computed again',
      ),
    );
  return { findings, troubled, unnamed, wrongSums };
}

async function keyFindings(connection: DuckDBConnection, data: DataDirectory, deep: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const kind of eventKinds) {
    const problem = await troubleWithKeyRuns({ connection, data }, kind, deep);
    if (problem === undefined) continue;
    // A state from storage has no keys; a publish makes those of clicks, a run that ingests all.
    findings.push(
      existsSync(join(data.keys, kind))
        ? trouble('keys', kind, problem, 'the keys of all events are written again from the event files')
        : note('keys', kind, 'their keys are not here', 'the next run that ingests makes them from the event files'),
    );
  }
  return findings;
}

async function ledgerFindings(connection: DuckDBConnection): Promise<Finding[]> {
  const rows = await queryRows<{
    path: string;
    rows: number;
    accepted: number;
    duplicates: number;
    rejected: number;
    kept: number;
  }>(
    connection,
    `SELECT path, rows, accepted, duplicates, rejected, kept
     FROM ingest_files LEFT JOIN (SELECT file_id, count(*) AS kept FROM rejects GROUP BY file_id) USING (file_id)
     WHERE rows <> accepted + duplicates + rejected OR coalesce(kept, 0) > rejected ORDER BY file_id`,
  );
  return rows.map(({ path, ...counts }) =>
    trouble('ledger', path, `its counts do not add up: ${JSON.stringify(counts)}`, rebuild, { repairable: false }),
  );
}

/** Compares numbers of events with the ledger and the roll-up: by the state's counts, or by the files where `deep`. */
async function countFindings(connection: DuckDBConnection, data: DataDirectory, deep: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const kind of ['clicks', 'conversions'] as const) {
    const relation = eventRelation(kind, await eventFilePaths(connection, data, kind));
    const byFile = deep
      ? `SELECT file_id, count(*) AS stored FROM ${relation} GROUP BY file_id`
      : 'SELECT NULL::BIGINT AS file_id, 0 AS stored WHERE false';
    const wrong = deep
      ? await queryRows<{ path: string; accepted: number; stored: number }>(
          connection,
          `SELECT coalesce(path, 'file ' || stored.file_id) AS path, coalesce(accepted, 0) AS accepted, coalesce(stored, 0) AS stored
           FROM (FROM ingest_files WHERE kind = '${kind}') AS ledger FULL JOIN (${byFile}) AS stored USING (file_id)
           WHERE coalesce(accepted, 0) <> coalesce(stored, 0) ORDER BY path`,
        )
      : await queryRows<{ path: string; accepted: number; stored: number }>(
          connection,
          `SELECT * FROM (
             SELECT '${kind}' AS path, (SELECT coalesce(sum(accepted), 0) FROM ingest_files WHERE kind = '${kind}') AS accepted,
               (SELECT coalesce(sum(rows), 0) FROM event_files WHERE kind = '${kind}') AS stored)
           WHERE accepted <> stored`,
        );
    for (const { path, accepted, stored } of wrong) {
      findings.push(
        trouble('ledger', path, `the ledger accepted ${accepted} rows, the event files hold ${stored}`, rebuild, {
          repairable: false,
        }),
      );
    }
  }
  const wrongHours = await wrongRollUps(
    connection,
    deep ? eventRelation('clicks', await eventFilePaths(connection, data, 'clicks')) : undefined,
  );
  if (wrongHours !== undefined)
    findings.push(trouble('roll-up', 'click_hourly', wrongHours, 'it is computed again from the click events'));
  const [events] = await queryRows<{ state: number; files: number }>(
    connection,
    `SELECT (SELECT count(*) FROM conversion_events) AS state, (SELECT coalesce(sum(rows), 0) FROM event_files WHERE kind = 'conversions') AS files`,
  );
  if (events !== undefined && events.state !== events.files) {
    findings.push(
      trouble(
        'roll-up',
        'conversion_events',
        `the state holds ${events.state} conversion events, the event files ${events.files}`,
        rebuild,
        { repairable: false },
      ),
    );
  }
  return findings;
}

async function wrongRollUps(connection: DuckDBConnection, clicks: string | undefined): Promise<string | undefined> {
  if (clicks === undefined) {
    const [sums] = await queryRows<{ rolled: number; stored: number }>(
      connection,
      `SELECT (SELECT coalesce(sum(clicks), 0) FROM click_hourly) AS rolled, (SELECT coalesce(sum(rows), 0) FROM event_files WHERE kind = 'clicks') AS stored`,
    );
    return sums === undefined || sums.rolled === sums.stored
      ? undefined
      : `it counts ${sums.rolled} clicks, the event files hold ${sums.stored}`;
  }
  await makeTempView(connection, 'audited_clicks', `FROM ${clicks}`);
  await makeTempTable(
    connection,
    'audited_days',
    `SELECT day FROM event_files WHERE kind = 'clicks' UNION SELECT hour::DATE FROM click_hourly`,
  );
  const wrong = await countRows(connection, `(${modelQuery('audits', 'roll_up_equals_events')})`);
  return wrong === 0 ? undefined : `${wrong} hours of offers differ from the click events`;
}
