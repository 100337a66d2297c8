import { join, resolve } from 'node:path';
import { UsageError } from '../errors/errors.ts';

/**
 * SQLite opens no file whose path, links followed, has more than 504 bytes. The longest path of ours below the root is
 * the lock of a source.
 */
const maxPathBytes = 420;

/** Paths of a data directory, which holds everything that changes. Nothing here touches the disk. */
export class DataDirectory {
  readonly root: string;
  /** Throws `UsageError` for a path at which no database can be kept. */
  constructor(root: string) {
    this.root = resolve(root);
    if (this.root.includes('?')) {
      throw new UsageError(
        `${this.root} has a question mark, where DuckDB cuts the path of a database's log: choose another folder or rename it`,
      );
    }
    const bytes = Buffer.byteLength(this.root);
    if (bytes > maxPathBytes)
      throw new UsageError(
        `the path of the data directory has ${bytes} bytes, and at most ${maxPathBytes} leave room for a database in it: ${this.root.slice(0, 60)}… has to be moved, or choose a shorter one`,
      );
  }

  /** `OFFERLINE_DATA`, else `data/var` under the working directory. */
  static fromEnvironment(): DataDirectory {
    return new DataDirectory(process.env['OFFERLINE_DATA'] || 'data/var');
  }

  /** Folders with data about users, addresses and devices, and with keys, for their owner alone. */
  get privateFolders() {
    return [
      this.warehouse,
      this.sources,
      this.secrets,
      this.postbacks,
      this.pictures,
      this.serve,
      this.tracker,
      this.console,
    ];
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
  /** Secrets of sources that were typed in, each in a file. */
  get secrets() {
    return join(this.root, 'secrets');
  }
  secretFile(source: string, name: string) {
    return join(this.secrets, `${source}.${name}`);
  }
  /** The ledger of pulls, and a lock for each source. */
  get sources() {
    return join(this.root, 'sources');
  }
  get pullLedgerFile() {
    return join(this.sources, 'pulls.sqlite');
  }
  /** Held by the one pull of a source. */
  sourceLockFile(source: string) {
    return join(this.sources, `${source}.lock`);
  }
  /** Lists of the demo's simulated networks. */
  get demo() {
    return join(this.root, 'demo');
  }
  demoNetworkFile(source: string) {
    return join(this.demo, `${source}.json`);
  }
  /** The amount of a demo's live traffic, where it is not the default. */
  get demoTrafficFile() {
    return join(this.demo, 'traffic.json');
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
  /** Damaged files, and files that nothing names any more after a repair: kept for people to look at. */
  get quarantine() {
    return join(this.warehouse, 'put-aside');
  }
  /** The reason why the next opening must not trust the state. */
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
  /** Runs since the last good one that the ledger does not have as failed. */
  get refusedRunsFile() {
    return join(this.warehouse, 'refused-runs.json');
  }
  /** The same of maintenance, for which a good refresh does not make up. */
  get refusedMaintenanceFile() {
    return join(this.warehouse, 'refused-maintenance.json');
  }
  /** How the last run of each pipeline ended, a file for each. */
  get outcomes() {
    return join(this.warehouse, 'outcomes');
  }
  outcomeFile(pipeline: string) {
    return join(this.outcomes, `${pipeline}.json`);
  }
  /** Work in progress of the run that holds the lock; swept by the next one. */
  get scratch() {
    return join(this.warehouse, 'scratch');
  }
  /** Spilled memory of the open warehouse; swept by the next opening, never before. */
  get spill() {
    return join(this.warehouse, 'spill');
  }
  /** A temporary warehouse for files whose reading may have ended a run by force. */
  get trial() {
    return join(this.scratch, 'trial');
  }
  /** Names of the landing files that are being read; left over by a run that ended by force. */
  get readingNote() {
    return join(this.warehouse, 'files-being-read.json');
  }
  /** What a backup under way has copied or linked; left over by one that ended by force. */
  get backupDraft() {
    return join(this.warehouse, 'backup');
  }
  /** Held by the one backup under way. */
  get backupLockFile() {
    return join(this.warehouse, 'backup.lock');
  }
  /** Files of a restore that are not yet all written and checked. */
  get restoreDraft() {
    return join(this.root, '.restoring');
  }
  /** Files of a restore that are all written and checked, while they move to their places. */
  get restored() {
    return join(this.root, '.restored');
  }
  /** State of object storage as this machine last read or wrote it. */
  get storageMemory() {
    return join(this.warehouse, 'storage.json');
  }
  /** Last pointer of object storage that this machine has seen: an older one is refused. */
  get seenPointerFile() {
    return join(this.warehouse, 'storage-seen.json');
  }
  /** Configuration files that differ from those of the machine that published last. */
  get configurationNoteFile() {
    return join(this.warehouse, 'configuration-differs.json');
  }
  /** Name of this data directory among those that use one shared folder of a Spark cluster. */
  get sharedFolderOwnerFile() {
    return join(this.warehouse, 'shared-folder-owner');
  }
  /** Storage that runs over the landing folder publish to, of whichever machine that shares the folder. */
  get landingClaimFile() {
    return join(this.landing, '.offerline-storage.json');
  }
  /** End of the lease by which this machine's schedule writes to storage. */
  get writerLeaseFile() {
    return join(this.warehouse, 'writer-lease.json');
  }
  /** Held by this machine's schedule that writes to storage, or is on standby. */
  get storageScheduleLockFile() {
    return join(this.warehouse, 'storage-schedule.lock');
  }
  /** Role of that schedule, and the trouble with storage. */
  get scheduleRoleFile() {
    return join(this.warehouse, 'schedule-role.json');
  }
  /** Role of the service that follows storage, and the trouble with storage. */
  get followingRoleFile() {
    return join(this.root, 'serve', 'following-role.json');
  }
  /** Output of Spark during the last run that used it. */
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
  /** The part of the lake's catalog that stays the same from one publish to the next, ready to be copied. */
  get lakeSchema() {
    return join(this.warehouse, 'lake');
  }
  /** The HTTP service's own. */
  get serve() {
    return join(this.root, 'serve');
  }
  /** Counted requests within the windows of rate limits. */
  get rateLimits() {
    return join(this.serve, 'rate-limits');
  }
  /** Held by the one service of the data directory. */
  get serviceLockFile() {
    return join(this.serve, 'service.lock');
  }
  /** The console's own: who may use it, and what was done by it. */
  get console() {
    return join(this.root, 'console');
  }
  get consoleUsersFile() {
    return join(this.console, 'users.json');
  }
  /** The newest link of `console link`, for one use. */
  get consoleLinkFile() {
    return join(this.console, 'link.json');
  }
  /** The listening address of a console that gives links, written by it. */
  get consoleAddressFile() {
    return join(this.console, 'address.json');
  }
  get postbacks() {
    return join(this.root, 'postbacks');
  }
  /** State and attempts of every postback; written by refreshes and deliveries at the same time. */
  get deliveriesFile() {
    return join(this.postbacks, 'deliveries.sqlite');
  }
  /** Deliveries on their way here from another store, before they are put in use. */
  get movedDeliveriesFile() {
    return join(this.postbacks, 'moving.sqlite');
  }
  /** Held by the one delivery pass under way. */
  get deliveryLockFile() {
    return join(this.postbacks, 'delivery.lock');
  }
  /** Mirrored pictures of offers, and which name has which of them. */
  get pictures() {
    return join(this.root, 'pictures');
  }
  get pictureIndexFile() {
    return join(this.pictures, 'pictures.sqlite');
  }
  /** Held by the one pass over pictures under way. */
  get pictureLockFile() {
    return join(this.pictures, 'pictures.lock');
  }
  /** The tracker's own files, for its owner alone. */
  get tracker() {
    return join(this.root, 'tracker');
  }
  /** Held by the one tracker of the data directory. */
  get trackerLockFile() {
    return join(this.tracker, 'tracker.lock');
  }
  /** What trackers of machines that share the folder have in common; others may land files beside it. */
  get landingLocks() {
    return join(this.landing, '.tracker');
  }
  /** Held by the one tracker that writes there, of whichever machine that shares the folder. */
  get landingLockFile() {
    return join(this.landingLocks, 'tracker.lock');
  }
  /** Keys by which click ids are recognised as ours. */
  get clickKeysFile() {
    return join(this.tracker, 'click-keys.json');
  }
  /** The tracker's listening address, written by the tracker. */
  get trackerAddressFile() {
    return join(this.tracker, 'address.json');
  }
  /** Routes of offers, a file for each snapshot. */
  get routes() {
    return join(this.tracker, 'routes');
  }
  /** A link to the routes of the newest snapshot. */
  get currentRoutes() {
    return join(this.routes, 'current');
  }
  /** Conversions whose senders are known and that were refused all the same, by day. */
  get refusedConversions() {
    return join(this.tracker, 'refused');
  }
  /** Completions by users, for sources that pay each user once: trackers of all machines know them. */
  get completionsFile() {
    return join(this.landingLocks, 'completions.ndjson');
  }
  /** Key by which the running tracker recognises reports that it kept itself. */
  get replayKeyFile() {
    return join(this.tracker, 'replay.key');
  }
  get published() {
    return join(this.root, 'published');
  }
  get current() {
    return join(this.published, 'current');
  }
  /** The kept snapshots as one DuckLake. */
  get lakeFile() {
    return join(this.published, 'offerline.ducklake');
  }
}
