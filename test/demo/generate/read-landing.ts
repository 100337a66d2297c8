import { DuckDBInstance } from '@duckdb/node-api';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { catalogRecords } from '../../../src/pipeline/landing/catalog/catalog-records.ts';
import { checkFiles } from '../../../src/pipeline/landing/files/check-files.ts';
import { fileLines } from '../../../src/pipeline/landing/lines/file-lines.ts';
import type { KnownColumns } from '../../../src/pipeline/landing/lines/parquet-columns.ts';
import { findLandingFiles } from '../../../src/pipeline/landing/files/find-files.ts';
import type { CheckedFile } from '../../../src/pipeline/landing/landing-file.ts';
import { catalogColumns } from '../../../src/pipeline/ingest/open-new-files.ts';
import { numberedLines, parsedLog } from '../../../src/pipeline/landing/logs/log-parser.ts';
import { clickSchema, conversionSchema } from '../../../src/pipeline/landing/logs/log-fields.ts';

export interface LogRow {
  path: string;
  /** Why the row is refused; null for a good one. */
  reject: string | null;
  /** The parsed fields; null where the row was refused. */
  event: Record<string, string | null> | null;
  warned: boolean;
}

export interface LandingContent {
  brokenFiles: { path: string; reason: string }[];
  files: CheckedFile[];
  clicks: LogRow[];
  conversions: LogRow[];
  /** Records of each catalog file as JSON text, by path. */
  catalogs: Map<string, string[]>;
}

/**
 * Reads a whole landing folder by the pipeline's own reader, which must agree with what the generator meant to write.
 */
export async function readLanding(root: string, wallClock: Date, conversionZone: string): Promise<LandingContent> {
  const scratch = join(root, 'scratch');
  await mkdir(scratch, { recursive: true });
  const { files } = await findLandingFiles(join(root, 'landing'));
  const { readable, broken } = await checkFiles(files, scratch);
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  try {
    await connection.run(`SET TimeZone = 'UTC'`);
    const withLines = (file: CheckedFile, known: KnownColumns) =>
      fileLines(connection, file, known, {
        scratchPath: join(scratch, `table-${readable.indexOf(file)}`),
        maxUnpackedBytes: 1e9,
        mapping: undefined,
      });
    const readLog = async (kind: 'clicks' | 'conversions'): Promise<LogRow[]> => {
      const logs = readable.filter((file) => file.kind === kind);
      const reading = {
        wallClock: wallClock.toISOString(),
        timeZone: kind === 'conversions' ? conversionZone : undefined,
      };
      const schema = kind === 'clicks' ? clickSchema(reading) : conversionSchema(reading);
      await connection.run(`CREATE OR REPLACE TEMP TABLE log_rows (file_id BIGINT, line BIGINT, raw VARCHAR)`);
      for (const [index, file] of logs.entries()) {
        for (const lines of numberedLines(await withLines(file, schema)))
          await connection.run(`INSERT INTO log_rows SELECT ${index}, line, raw FROM ${lines}`);
      }
      const parsed = await connection.runAndReadAll(
        `SELECT file_id, json_extract_string(reject, '$.reason') AS reject, warnings > 0 AS warned,
           to_json(struct_pack(${schema.fields.map(({ name }) => `${name} := ${name}::VARCHAR`).join(', ')}))::VARCHAR AS event
         FROM (${parsedLog(schema, 'log_rows')}) ORDER BY file_id, line`,
      );
      return parsed.getRowObjectsJson().map((row) => ({
        path: logs[Number(row['file_id'])]?.path ?? '',
        reject: row['reject'] as string | null,
        event: row['reject'] === null ? (JSON.parse(row['event'] as string) as Record<string, string | null>) : null,
        warned: row['warned'] as boolean,
      }));
    };
    const catalogs = new Map<string, string[]>();
    for (const file of readable.filter(({ kind }) => kind === 'offers')) {
      const raws: string[] = [];
      for await (const records of catalogRecords(await withLines(file, catalogColumns)))
        raws.push(...records.map(({ raw }) => raw));
      catalogs.set(file.path, raws);
    }
    return {
      brokenFiles: broken.map(({ file, reason }) => ({ path: file.path, reason })),
      files: readable,
      catalogs,
      clicks: await readLog('clicks'),
      conversions: await readLog('conversions'),
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Moments as `2026-11-21T09:47:00.123Z`, whatever way the engine writes them. */
export function moment(row: LogRow): number {
  const text = row.event?.['clicked_at'] ?? row.event?.['occurred_at'] ?? '';
  return Date.parse(text.replace(' ', 'T').replace(/\+00(:00)?$/, 'Z'));
}
