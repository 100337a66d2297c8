import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { EventKind } from '../../src/kit/vocabulary/values.ts';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { defaultSettings } from '../../src/kit/config/settings.ts';
import { ingestStage, type IngestInput, type IngestSummary } from '../../src/pipeline/ingest/ingest-stage.ts';
import type { Site } from '../../src/kit/sites/sites.ts';
import { dateOf, type Moment } from '../../src/kit/time/moment.ts';
import type { Run } from '../../src/pipeline/runs/stage.ts';
import { openStateDatabase, type StateDatabase } from '../../src/pipeline/warehouse/database.ts';
import { queryRows, type QueryRow } from '../../src/kit/duckdb/dialect/rows.ts';
import { eventFilePaths, eventRelation } from '../../src/pipeline/warehouse/event-files.ts';
import { testRun } from '../test-run.ts';
import { putNewState } from './new-state.ts';

const duckdb = { threads: 1, memory_limit: '1GB' };

/**
 * A data directory of its own with an open warehouse: files are put into its landing folder and ingested by the real
 * stage.
 */
export class LogLanding implements AsyncDisposable {
  readonly data: DataDirectory;
  readonly state: StateDatabase;
  #runId = 0;

  static async create(): Promise<LogLanding> {
    const data = new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-landing-')));
    await putNewState(data);
    return new LogLanding(data, await openStateDatabase(data, { duckdb }));
  }

  private constructor(data: DataDirectory, state: StateDatabase) {
    this.data = data;
    this.state = state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.state.close();
    await rm(this.data.root, { recursive: true });
  }

  /** Writes `landing/<path>`; an array is written as lines, records as JSON. Gives the absolute path. */
  async put(path: string, content: string | Uint8Array | readonly (string | object)[]): Promise<string> {
    const target = join(this.data.landing, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, typeof content === 'string' || content instanceof Uint8Array ? content : ndjson(content));
    return target;
  }

  /** Writes a file that was changed last at the moment that is given. */
  async putAt(path: string, content: Parameters<LogLanding['put']>[1], changedAt: Moment): Promise<string> {
    const target = await this.put(path, content);
    await utimes(target, dateOf(changedAt), dateOf(changedAt));
    return target;
  }

  /** One run of the ingest stage, by the run's own DuckDB where no other engine is given. */
  ingest(
    changes: Partial<Run> = {},
    { engine, sites = [] }: { engine?: IngestInput['engine'] | undefined; sites?: Site[] } = {},
  ): Promise<IngestSummary> {
    const settings = { ...(changes.settings ?? defaultSettings), duckdb };
    return ingestStage.run(testRun(this.data, { runId: ++this.#runId, ...changes, settings }), {
      state: this.state,
      sites: { sites },
      ...(engine && { engine }),
    });
  }

  query<R = QueryRow>(sql: string, parameters: readonly unknown[] = []): Promise<R[]> {
    return queryRows<R>(this.state.connection, sql, parameters);
  }

  /**
   * `path status rows=accepted+duplicates+rejected` of every file and the reason code of a quarantined one, in the
   * ledger's order.
   */
  async ledger(): Promise<string[]> {
    const rows = await this.query<{ entry: string }>(
      `SELECT path || ' ' || status || coalesce(' ' || split_part(reason, ':', 1), '') || ' ' || rows || '=' || accepted || '+' || duplicates || '+' || rejected AS entry
       FROM ingest_files ORDER BY file_id`,
    );
    return rows.map(({ entry }) => entry);
  }

  /** `path:line reason` of every rejected row. */
  async rejects(): Promise<string[]> {
    const rows = await this.query<{ entry: string }>(
      `SELECT path || ':' || line || ' ' || reason AS entry FROM rejects ORDER BY path, line`,
    );
    return rows.map(({ entry }) => entry);
  }

  /** `path warning field rows` of every warning. */
  async warnings(): Promise<string[]> {
    const rows = await this.query<{ entry: string }>(
      `SELECT concat_ws(' ', path, warning, field, w.rows) AS entry FROM ingest_warnings AS w JOIN ingest_files USING (file_id) ORDER BY ALL`,
    );
    return rows.map(({ entry }) => entry);
  }

  /** Accepted events, by their id. */
  async events<R = QueryRow>(kind: EventKind, columns = '*'): Promise<R[]> {
    const paths = await eventFilePaths(this.state.connection, this.data, kind);
    return this.query<R>(
      `SELECT ${columns} FROM ${eventRelation(kind, paths)} ORDER BY ${kind === 'clicks' ? 'click_id' : 'conversion_id, kind'}`,
    );
  }

  /** Ids of the accepted events, ascending. */
  async ids(kind: EventKind): Promise<string[]> {
    const id = kind === 'clicks' ? 'click_id' : `conversion_id || ' ' || kind`;
    return (await this.events<{ id: string }>(kind, `${id} AS id`)).map((event) => event.id);
  }
}

/** A click with the least that it needs; undefined fields are left out. */
export function click(clickId: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { click_id: clickId, offer_id: 7, site_key: 's', user_id: 'u', clicked_at: '2026-11-18T10:00:00Z', ...fields };
}

/** A credit with the least that it needs. */
export function conversion(conversionId: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    conversion_id: conversionId,
    click_id: 'c1',
    kind: 'credit',
    occurred_at: '2026-11-18T10:30:00Z',
    ...fields,
  };
}

export function ndjson(rows: readonly (string | object)[]): string {
  return rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
}

/** CSV of records that all have the fields of the first one. */
export function csv(records: readonly Record<string, unknown>[]): string {
  const names = Object.keys(records[0] ?? {});
  const cell = (value: unknown) => {
    const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [names.join(','), ...records.map((record) => names.map((name) => cell(record[name])).join(','))]
    .map((line) => `${line}\n`)
    .join('');
}
