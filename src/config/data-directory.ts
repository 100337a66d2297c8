import { join, resolve } from 'node:path';

/** Where everything that changes lives (contract section 1). Paths only; nothing here touches the disk. */
export class DataDirectory {
  readonly root: string;
  constructor(root: string) {
    this.root = resolve(root);
  }

  /** `OFFERLINE_DATA`, else `data/var` under the working directory. */
  static fromEnvironment(environment: NodeJS.ProcessEnv = process.env): DataDirectory {
    return new DataDirectory(environment['OFFERLINE_DATA'] || 'data/var');
  }

  get settingsFile() { return join(this.root, 'offerline.json'); }
  get sitesFile() { return join(this.root, 'sites.json'); }
  get landing() { return join(this.root, 'landing'); }
  get warehouse() { return join(this.root, 'warehouse'); }
  /** Catalog, ledger, roll-ups and everything else that is small and changes. */
  get stateFile() { return join(this.warehouse, 'state.duckdb'); }
  get lockFile() { return join(this.warehouse, 'writer.lock'); }
  /** Work in progress of the run that holds the lock; swept by the next one. */
  get scratch() { return join(this.warehouse, 'scratch'); }
  /** Accepted events as day-partitioned Parquet. */
  get events() { return join(this.warehouse, 'events'); }
  /** Marts that grow with history, one Parquet file per day. */
  get marts() { return join(this.warehouse, 'marts'); }
  /** What the HTTP service counts: requests within the windows of their rate limits. */
  get rateLimitsFile() { return join(this.root, 'serve', 'rate-limits.sqlite'); }
  get published() { return join(this.root, 'published'); }
  get current() { return join(this.published, 'current'); }
}
