import type { DuckDBConnection } from '@duckdb/node-api';
import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { LogSchema } from '../../pipeline/landing/logs/log-fields.ts';
import type { Run } from '../../pipeline/runs/stage.ts';
import { literalPath, quoted } from '../../kit/text/sql-text.ts';
import { replaceFile } from '../../kit/files/effects.ts';
import { dayOfNumber } from '../../kit/time/day-number.ts';
import { eventRelation } from '../../pipeline/warehouse/event-files.ts';
import { DuckdbEngine } from '../../pipeline/ingest/engine/duckdb-engine.ts';
import type { EventEngine, StagedEvents, StagingWork } from '../../pipeline/ingest/engine/event-engine.ts';
import type { LogBatch } from '../../pipeline/ingest/engine/log-batch.ts';
import { steadyDays } from './local-times.ts';
import { parseOddLines, type OddLines } from './odd-lines.ts';
import type { SparkDriver, ViewOfFiles, WrittenQuery } from './spark-driver.ts';
import {
  daysQuery,
  duplicatesQuery,
  duplicatesView,
  eventViews,
  inputName,
  linesView,
  eventsQuery,
  type StagingFolders,
} from './spark-staging.ts';

/** Lends a driver to one run; started when it is first asked for. */
export interface SparkDrivers extends AsyncDisposable {
  driver(): Promise<SparkDriver>;
}

type EngineRun = Pick<Run, 'runId' | 'data' | 'effects' | 'progress' | 'logger'>;

/** Above it a source writes lines that Spark cannot decide, and one machine parses them alone. */
const maxSilentOddShare = 0.01;

/**
 * Apache Spark reads the lines, removes duplicates and writes the days; lines that are not plain are parsed by DuckDB
 * here, by the one parser. The rest costs as much as there is news, or eight bytes an event, and stays with DuckDB:
 * which events history has, by the sorted keys; clicks by id; hours of new files.
 */
export class SparkEngine implements EventEngine {
  readonly name = 'spark';
  readonly #run: EngineRun;
  readonly #connection: DuckDBConnection;
  readonly #drivers: SparkDrivers;
  readonly #sharedFolder: string | undefined;
  readonly #duckdb: DuckdbEngine;
  /** Of this object alone: two runs never write into one folder, whatever their numbers. */
  readonly #nonce = randomUUID().slice(0, 8);

  /** `sharedFolder`: seen by this machine and the workers; without one they see the data directory. */
  constructor(run: EngineRun, connection: DuckDBConnection, drivers: SparkDrivers, sharedFolder?: string) {
    this.#run = run;
    this.#connection = connection;
    this.#drivers = drivers;
    this.#sharedFolder = sharedFolder;
    this.#duckdb = new DuckdbEngine(run, connection);
  }

  async stage({ schema, batch, ...known }: StagingWork): Promise<StagedEvents> {
    if (batch.rows.length === 0) return { days: [], rejected: [], duplicates: new Map() };
    const { effects, logger } = this.#run;
    const { kind } = schema;
    const folders = await this.#makeFolders(kind);
    const driver = await this.#drivers.driver();
    const lines = await this.#handIn(folders, batch);
    await this.#write(
      driver,
      `parsing ${kind} on Spark`,
      `events of ${kind}: parsed by Spark`,
      eventsQuery(schema, folders, await steadyDays(this.#connection, schema.reading)),
      [lines],
    );
    const odd = await effects.perform(`events of ${kind}: odd lines parsed`, () =>
      parseOddLines(this.#connection, schema, batch, folders),
    );
    warnOfOddLines(logger, kind, odd);
    await effects.perform(`events of ${kind}: known ones looked up`, () => this.#writeKnown(schema, folders, known));
    await this.#write(
      driver,
      `finding duplicates of ${kind} on Spark`,
      `events of ${kind}: duplicates found by Spark`,
      duplicatesQuery(schema, folders),
      eventViews(schema, folders),
    );
    await this.#write(
      driver,
      `writing ${kind} by day on Spark`,
      `events of ${kind}: written by Spark`,
      daysQuery(schema, folders),
      [duplicatesView(folders)],
    );
    return {
      days: await this.#takeDays(kind, folders),
      rejected: odd.rejected,
      duplicates: await this.#countDuplicates(folders),
    };
  }

  clickHours(files: readonly string[]): Promise<string> {
    return this.#duckdb.clickHours(files);
  }

  findClicks(clickIds: string, files: readonly string[]): Promise<string> {
    return this.#duckdb.findClicks(clickIds, files);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#drivers[Symbol.asyncDispose]();
    if (this.#sharedFolder !== undefined) await this.#removeLeftovers(this.#sharedFolder);
  }

  /**
   * Folders of this run's own: a task of an earlier run that is still dying on the cluster writes elsewhere, and never
   * among what this run takes.
   */
  async #makeFolders(kind: string): Promise<StagingFolders> {
    const { data, effects, runId } = this.#run;
    const ofRun = `${await this.#prefix()}run-${runId}-${this.#nonce}-`;
    if (this.#sharedFolder !== undefined) await this.#removeLeftovers(this.#sharedFolder, ofRun);
    const root = join(this.#sharedFolder ?? data.scratch, `${ofRun}${kind}`);
    const names = ['input', 'parsed', 'odd', 'known', 'duplicates', 'days'] as const;
    const folders = Object.fromEntries(names.map((name) => [name, join(root, name)])) as unknown as StagingFolders;
    for (const name of ['input', 'odd', 'known'] as const) await effects.files.makeDirectory(folders[name]);
    return folders;
  }

  /** A shared folder may serve several data directories, which have the same path in containers. */
  async #prefix(): Promise<string> {
    const { data, effects } = this.#run;
    const path = data.sharedFolderOwnerFile;
    if (!existsSync(path)) await replaceFile(path, randomUUID(), 'owner of shared folders', effects.files);
    return `offerline-${await readFile(path, 'utf8')}-`;
  }

  /** Removes what runs of this data directory left there, but for names that begin with `except`. */
  async #removeLeftovers(sharedFolder: string, except?: string): Promise<void> {
    const { effects } = this.#run;
    const prefix = await this.#prefix();
    for (const name of await readdir(sharedFolder))
      if (name.startsWith(prefix) && (except === undefined || !name.startsWith(except)))
        await effects.files.remove(join(sharedFolder, name), 'shared folder: leftover removed');
  }

  /** Files under plain names of ours, whatever senders call theirs; where workers do not see them, copies. */
  async #handIn(folders: StagingFolders, batch: LogBatch): Promise<ViewOfFiles> {
    const paths: string[] = [];
    for (const [position, { fileId, bytes, readablePath }] of batch.files.entries()) {
      if (bytes === 0) continue;
      const path = join(folders.input, inputName(position, fileId));
      if (this.#sharedFolder === undefined) await symlink(readablePath, path);
      else await copyFile(readablePath, path, constants.COPYFILE_FICLONE);
      paths.push(path);
    }
    return linesView(paths);
  }

  async #write(
    driver: SparkDriver,
    label: string,
    step: string,
    query: WrittenQuery,
    views: readonly ViewOfFiles[],
  ): Promise<void> {
    const { effects, progress } = this.#run;
    progress.start(label, 100);
    try {
      await effects.perform(step, async () => {
        for (const view of views) await driver.view(view);
        await driver.write(query, (share) => progress.advance(Math.round(100 * share)));
      });
    } finally {
      progress.finish();
    }
  }

  /** Whole rows of history that have a key of the batch's: first only keys are read, of the days that may have one. */
  async #writeKnown(
    schema: LogSchema,
    { parsed, odd, known }: StagingFolders,
    { history, reduced }: Pick<StagingWork, 'history' | 'reduced'>,
  ) {
    const read = (folder: string) =>
      `read_parquet(${quoted(join(literalPath(folder), '*.parquet'))}, hive_partitioning = false)`;
    const keys = `SELECT event_key FROM ${read(parsed)} WHERE event_key IS NOT NULL UNION ALL SELECT event_key FROM ${read(odd)}`;
    const files = await history(keys);
    const holding =
      files.length === 0
        ? []
        : await queryRows<{ file: number }>(
            this.#connection,
            `SELECT DISTINCT file_index AS file FROM ${eventRelation(schema.kind, files)} WHERE event_key IN (${keys}) ORDER BY file`,
          );
    const holders = holding.map(({ file }) => files[file] as string);
    const columns = [...schema.fields.map(({ name }) => name), 'event_key'].join(', ');
    const parts = [false, true].map((isReduced) => {
      const ofThem = holders.filter((path) => reduced.has(path) === isReduced);
      return `SELECT ${columns}, ${isReduced} AS is_reduced FROM ${eventRelation(schema.kind, ofThem)} WHERE event_key IN (${keys})`;
    });
    await this.#connection.run(
      `COPY (${parts.join(' UNION ALL ')})
       TO ${quoted(join(known, '0.parquet'))} (FORMAT parquet)`,
    );
  }

  async #countDuplicates({ duplicates }: StagingFolders): Promise<StagedEvents['duplicates']> {
    const rows = await queryRows<{ file_id: number; duplicates: number; conflicts: number }>(
      this.#connection,
      `SELECT file_id, count(*) AS duplicates, count(*) FILTER (conflict) AS conflicts
       FROM read_parquet(${quoted(join(literalPath(duplicates), '*.parquet'))}, hive_partitioning = false) GROUP BY file_id`,
    );
    return new Map(rows.map(({ file_id, ...counts }) => [file_id, counts]));
  }

  /** The files of the days, in the scratch folder: from elsewhere they could not be renamed into the warehouse. */
  async #takeDays(kind: string, { days }: StagingFolders): Promise<StagedEvents['days']> {
    const taken: StagedEvents['days'] = [];
    const files = await queryRows<{ file: string }>(this.#connection, 'SELECT file FROM glob($1) ORDER BY file', [
      join(literalPath(days), 'day_number=*', '*.parquet'),
    ]);
    for (const [index, { file }] of files.entries()) {
      const number = Number(/day_number=(-?\d+)[/\\][^/\\]+$/.exec(file)?.[1]);
      const path =
        this.#sharedFolder === undefined ? file : join(this.#run.data.scratch, `spark-${kind}-${index}.parquet`);
      if (path !== file) await this.#run.effects.files.copyFile(file, path, `events of ${kind}: fetched`);
      taken.push({ day: dayOfNumber(number), path });
    }
    return taken;
  }
}

function warnOfOddLines(logger: Run['logger'], kind: string, { lines, odd }: OddLines): void {
  const about = { kind, lines, odd };
  if (odd > lines * maxSilentOddShare)
    logger.warn(
      about,
      'Spark left more than one line in a hundred to this machine: they are not written plainly, or are rejected or warned of',
    );
  else logger.info(about, 'lines that Spark left to this machine');
}
