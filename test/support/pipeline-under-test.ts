import { copyFile, mkdir, mkdtemp, readlink, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { refresh, stages } from '../../pipelines/refresh.ts';
import type { RunRequest } from '../../pipelines/run-pipeline.ts';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { realEffects, type Effects } from '../../src/kit/files/effects.ts';
import { readAnalytics } from '../../src/pipeline/snapshot/read-analytics.ts';
import { dayOf, type Moment } from '../../src/kit/time/moment.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import type { QueryRow } from '../../src/kit/duckdb/dialect/rows.ts';
import { writeLogFile, type LandingRow, type LogFormat } from './log-files.ts';
import { copyFolder } from './copy-folder.ts';
import { putNewState } from './new-state.ts';

/** What is published of the numbers, without what tells runs and files apart. */
export interface PublishedFigures {
  offer_stats_2d: QueryRow[];
  /** `report_daily` of the day of as-of. */
  report_of_today: QueryRow[];
  offer_hourly: QueryRow[];
  offer_daily: QueryRow[];
  network_hourly: QueryRow[];
  site_daily: QueryRow[];
  conversions: QueryRow[];
  clicks: QueryRow[];
}

/** `clock`: what the run reads as the clock. */
type RunOptions = { clock?: Moment } & Pick<RunRequest, 'allowOlder' | 'allowFuture'>;

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

/** A data directory of its own and refreshes of it, at times that the test decides. */
export class PipelineUnderTest implements AsyncDisposable {
  readonly data: DataDirectory;
  /** Milliseconds since the epoch: what refreshes read as the clock, but for those of a later as-of. */
  readonly #wallClock: number;
  #files = 0;
  /** Paths of the logs landed so far. */
  readonly #logs: string[] = [];
  /** Copies of the data directory. */
  readonly #kept: string[] = [];

  private constructor(data: DataDirectory, wallClock: Date) {
    this.data = data;
    this.#wallClock = wallClock.getTime();
  }

  /** Over an empty folder, for a test that fills it itself. */
  static async bare(wallClock: Date): Promise<PipelineUnderTest> {
    return new PipelineUnderTest(new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-'))), wallClock);
  }

  /** Ready for refreshes, with a state that is migrated already. */
  static async create(
    wallClock: Date,
    { settings = {}, sites = [] }: { settings?: object; sites?: readonly object[] } = {},
  ): Promise<PipelineUnderTest> {
    const pipeline = await PipelineUnderTest.bare(wallClock);
    await mkdir(pipeline.data.landing, { recursive: true });
    await putNewState(pipeline.data);
    await pipeline.configure(settings);
    await writeFile(pipeline.data.sitesFile, JSON.stringify({ sites }));
    return pipeline;
  }

  /** Writes `offerline.json`. */
  async configure(settings: object): Promise<void> {
    // On data as small as a test's a second thread costs a quarter more than it brings.
    await writeFile(this.data.settingsFile, JSON.stringify({ duckdb: { threads: 1 }, ...settings }));
  }

  /** Lands an export of one catalog source, newer than those before. */
  async landOffers(source: string, offers: readonly LandingRow[]): Promise<void> {
    const folder = join(this.data.landing, 'offers', source);
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, `${this.#nextName()}.ndjson`),
      offers.map((offer) => `${JSON.stringify(offer)}\n`).join(''),
    );
  }

  async landLog(kind: 'clicks' | 'conversions', format: LogFormat, rows: readonly LandingRow[]): Promise<void> {
    this.#logs.push(await writeLogFile(join(this.data.landing, kind, this.#nextName()), kind, format, rows));
  }

  /** Lands the log file that was landed first once more, under a new name. */
  async landFirstLogAgain(): Promise<void> {
    const [first] = this.#logs;
    if (first === undefined) throw new Error('no log has landed yet');
    await copyFile(first, join(dirname(first), `${this.#nextName()}${basename(first).replace(/^\d+/, '')}`));
  }

  /** By a clock that has come as far as as-of, unless the test says how late it is. */
  refresh(asOf: Moment, options: RunOptions = {}): ReturnType<typeof refresh> {
    return refresh(...this.#runOf(asOf, options));
  }

  /** The one stage alone, by the same clock. */
  ingest(asOf: Moment, options: RunOptions = {}): ReturnType<typeof stages.ingest> {
    return stages.ingest(...this.#runOf(asOf, options));
  }

  /** Folder names under `published`, with the one that `current` names. */
  async snapshots(): Promise<{ current: string; all: string[] }> {
    const names = await readdir(this.data.published);
    const all = names.filter((name) => name !== basename(this.data.lakeFile)).toSorted();
    return { current: await readlink(this.data.current), all };
  }

  ask<R = QueryRow>(sql: string): Promise<R[]> {
    return readAnalytics(this.data.current, (query) => query<R>(sql));
  }

  /** What `current` says; `asOf` tells which day is today. */
  figures(asOf: Moment): Promise<PublishedFigures> {
    return readAnalytics(this.data.current, async (query) => ({
      offer_stats_2d: await query('FROM offer_stats_2d ORDER BY offer_id'),
      report_of_today: await query(
        `SELECT * EXCLUDE (report_date) FROM report_daily WHERE report_date = '${dayOf(asOf)}' ORDER BY offer_id`,
      ),
      offer_hourly: await query('FROM offer_hourly ORDER BY hour, offer_id'),
      offer_daily: await query('FROM offer_daily ORDER BY day, offer_id'),
      network_hourly: await query('FROM network_hourly ORDER BY hour'),
      site_daily: await query('FROM site_daily ORDER BY day, site_key'),
      conversions: await query('SELECT * EXCLUDE (changed_at) FROM conversions ORDER BY conversion_id'),
      clicks: await query(
        'SELECT * EXCLUDE (file_id, event_key), event_key::VARCHAR AS event_key FROM clicks ORDER BY click_id',
      ),
    }));
  }

  /**
   * Keeps a copy of the data directory. Gives what brings it back, under the same path: snapshots name absolute ones.
   */
  async keep(): Promise<() => Promise<void>> {
    const copy = `${this.data.root}-kept-${this.#kept.length + 1}`;
    this.#kept.push(copy);
    await copyFolder(this.data.root, copy);
    const [files, logs] = [this.#files, this.#logs.length];
    return async () => {
      this.#files = files;
      this.#logs.length = logs;
      await rm(this.data.root, { recursive: true });
      await copyFolder(copy, this.data.root);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const folder of [this.data.root, ...this.#kept]) await rm(folder, { recursive: true, force: true });
  }

  #runOf(asOf: Moment, { clock, ...allowed }: RunOptions): [RunRequest, Effects] {
    const now = clock === undefined ? Math.max(this.#wallClock, Date.parse(asOf)) : Date.parse(clock);
    return [
      { data: this.data, terminal: silent, asOf, ...allowed },
      { ...realEffects, now: () => now },
    ];
  }

  /** Sorts in the order of landing. */
  #nextName(): string {
    return String(++this.#files).padStart(4, '0');
  }
}
