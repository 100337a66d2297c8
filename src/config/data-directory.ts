import { join, resolve } from 'node:path';
import { UsageError } from '../errors/errors.ts';

/** Where everything that changes lives (contract section 1). Paths only; nothing here touches the disk. */
export class DataDirectory {
  readonly root: string;
  /** Throws `UsageError` where no database could be kept there. */
  constructor(root: string) {
    this.root = resolve(root);
    if (this.root.includes('?')) {
      throw new UsageError(
        `${this.root} has a question mark, where DuckDB cuts the path of a database's log: choose another folder or rename it`,
      );
    }
  }

  /** `OFFERLINE_DATA`, else `data/var` under the working directory. */
  static fromEnvironment(environment: NodeJS.ProcessEnv = process.env): DataDirectory {
    return new DataDirectory(environment['OFFERLINE_DATA'] || 'data/var');
  }

  get settingsFile() {
    return join(this.root, 'offerline.json');
  }
  get sitesFile() {
    return join(this.root, 'sites.json');
  }
  /** Networks that are pulled. */
  get sourcesFile() {
    return join(this.root, 'sources.json');
  }
  /** What is remembered of pulls: their ledger, and a lock for each source. */
  get sources() {
    return join(this.root, 'sources');
  }
  get pullLedgerFile() {
    return join(this.sources, 'pulls.sqlite');
  }
  get landing() {
    return join(this.root, 'landing');
  }
  get warehouse() {
    return join(this.root, 'warehouse');
  }
  /** Catalog, ledger, roll-ups and everything else that is small and changes. */
  get stateFile() {
    return join(this.warehouse, 'state.duckdb');
  }
  /** Copies of the state as it was after a run that published, by that run's number. */
  get stateCopies() {
    return join(this.warehouse, 'copies');
  }
  /** What was found damaged, and what nothing named any more after it: kept for people to look at. */
  get putAside() {
    return join(this.warehouse, 'put-aside');
  }
  /** Says why the next opening must not trust the state. */
  get damageNote() {
    return join(this.warehouse, 'state-is-damaged.txt');
  }
  get lockFile() {
    return join(this.warehouse, 'writer.lock');
  }
  /** Held by the one scheduler of the data directory. */
  get scheduleLockFile() {
    return join(this.warehouse, 'schedule.lock');
  }
  /** The newest part of the run ledger, to be read while a run holds the warehouse. */
  get recentRunsFile() {
    return join(this.warehouse, 'recent-runs.json');
  }
  /** Work in progress of the run that holds the lock; swept by the next one. */
  get scratch() {
    return join(this.warehouse, 'scratch');
  }
  /** Where files are read that a run may have ended by force over: a warehouse that is thrown away. */
  get trial() {
    return join(this.scratch, 'trial');
  }
  /** Which landing files are being read; left over by a run that ended by force. */
  get readingNote() {
    return join(this.warehouse, 'files-being-read.json');
  }
  /** What Spark said during the last run that asked it. */
  get sparkLog() {
    return join(this.warehouse, 'spark-driver.log');
  }
  /** Accepted events as day-partitioned Parquet. */
  get events() {
    return join(this.warehouse, 'events');
  }
  /** The keys of accepted events, sorted: which days may have one. */
  get keys() {
    return join(this.warehouse, 'keys');
  }
  /** Marts that grow with history, one Parquet file per day. */
  get marts() {
    return join(this.warehouse, 'marts');
  }
  /** What the HTTP service counts: requests within the windows of their rate limits. */
  get rateLimits() {
    return join(this.root, 'serve', 'rate-limits');
  }
  /** Held by the one service of the data directory. */
  get serviceLockFile() {
    return join(this.root, 'serve', 'service.lock');
  }
  get postbacks() {
    return join(this.root, 'postbacks');
  }
  /** State and attempts of every postback; written by refreshes and deliveries at the same time. */
  get deliveriesFile() {
    return join(this.postbacks, 'deliveries.sqlite');
  }
  /** Held by the one delivery pass under way. */
  get deliveryLockFile() {
    return join(this.postbacks, 'delivery.lock');
  }
  get published() {
    return join(this.root, 'published');
  }
  get current() {
    return join(this.published, 'current');
  }
}
