import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../kit/files/effects.ts';
import { bothToTheirEnd, severalAtOnce } from '../../kit/files/several-at-once.ts';
import { AuditError, OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import { feedOffersFile, feedSitesFile } from '../feed/feed-document.ts';
import { noLog, smallBlocks } from '../../kit/duckdb/attach-options.ts';
import { quoted } from '../../kit/text/sql-text.ts';
import { currentMarts, invalidateMartsSince } from '../warehouse/dirty-partitions.ts';
import type { Sites } from '../../kit/sites/sites.ts';
import { aheadOfClock, assertNotAhead, futureTimestampsAdvice } from '../../kit/time/ahead-of-clock.ts';
import { compareMoments, dateOf, momentOfMilliseconds, shiftMoment, type Moment } from '../../kit/time/moment.ts';
import type { Run, Stage } from '../runs/stage.ts';
import { withoutFsst, type StateDatabase } from '../warehouse/database.ts';
import { readMart } from '../sql/run-model.ts';
import { readRevision } from '../warehouse/metadata.ts';
import { hasFewOffers } from '../warehouse/small-warehouse.ts';
import { ensureKeyRuns } from '../warehouse/keys/upkeep.ts';
import { writeAnalytics } from './content/analytics.ts';
import { auditSnapshot } from './content/audits.ts';
import { recordCappedOffers } from './content/capped-offers.ts';
import { recordSiteTerms } from './content/site-terms-history.ts';
import { currentManifest, switchCurrent } from './snapshot-store.ts';
import { digestOf, syncSeveral, writeTableFiles } from './content/table-files.ts';
import { readmeFile, readmeText } from './content/readme-text.ts';
import { writeFeedFiles } from './content/feed-files.ts';
import { linkedFiles, snapshotIdOf, type LinkedFile } from './layout.ts';
import { writeLake } from './lake/write-lake.ts';
import { analyticsFile, manifestFile, manifestText, schemaVersion, tablesFolder, type Manifest } from './manifest.ts';
import { removeHalfBuilt, retireSnapshots, snapshotsToKeep } from './retention.ts';
import { publishRoutes } from './publish-routes.ts';
import { warnOfUnmatchedRules } from './warn-of-unmatched-rules.ts';
import { assertSharedFilesWhole, isCurrentIntact } from './verify-current.ts';
import { haveRoutesOf } from '../routes/publish-routes.ts';

export interface PublishInput {
  state: StateDatabase;
  sites: Sites;
  /** The as-of that was asked for: the marts must have it. */
  asOf?: Moment | undefined;
  /** Allows an as-of older than the published snapshot's. */
  allowOlder?: boolean | undefined;
  /** Allows an as-of ahead of the clock. */
  allowFuture?: boolean | undefined;
}

export interface PublishSummary {
  /** Null where the current snapshot has this as-of and content already. */
  snapshotId: string | null;
  audits: number;
  retired: string[];
  /** Rows of all tables and views of the snapshot; 0 where none was published. */
  rows: number;
  /** Bytes of all its files, also of those shared with other snapshots. */
  bytes: number;
}

/**
 * Builds a snapshot beside the old ones, audits and checksums it, and only then switches `current` to it. Its as-of is
 * that of its marts. Throws `UsageError` where the marts are out of date or have another as-of than was asked for,
 * `AuditError` with nothing published.
 */
export const publishStage: Stage<PublishInput, PublishSummary> = {
  name: 'publish',
  async run(called, { state, sites, asOf: asked, allowOlder, allowFuture }) {
    const run: Run = { ...called, asOf: await requireCurrentMarts(state, asked) };
    if (!allowFuture) assertNotAhead(run.asOf, run.wallClock);
    const published = await currentManifest(run.data);
    if (published !== undefined && !allowOlder) assertNotOlder(run, published.as_of);
    await state.transaction(async () => {
      const from = changesCountFrom(run, published);
      await recordSiteTerms(state, sites.sites, from);
      await recordCappedOffers(run, from, state.connection);
      // A state that was brought from another machine has none until now.
      await ensureKeyRuns({ ...run, connection: state.connection }, 'clicks', run.runId);
    }, 'terms, caps and keys');
    const fingerprint = await fingerprintOf(run, state, sites);
    if (published?.fingerprint === fingerprint) {
      if (await isCurrentIntact(run, published.snapshot_id)) {
        // Routes are lost, or the run before was killed before it wrote them.
        if (!(await haveRoutesOf(run.data, published.snapshot_id)))
          await publishRoutes(run, state.connection, published.snapshot_id);
        if (!existsSync(run.data.lakeFile))
          await writeLake(run.data, await snapshotsToKeep(run, published.snapshot_id), run.effects, state.connection);
        // The run that published may have been killed before it removed what one before it left.
        await removeHalfBuilt(run);
        return { snapshotId: null, audits: 0, retired: [], rows: 0, bytes: 0 };
      }
      await assertSharedFilesWhole(run, state);
    }
    const { manifest, audits } = await build(run, state, sites, fingerprint, published);
    const kept = await snapshotsToKeep(run, manifest.snapshot_id);
    await activate(run, state, manifest.snapshot_id, kept);
    await warnOfUnmatchedRules(run, state, sites.sites);
    const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
    return {
      snapshotId: manifest.snapshot_id,
      audits,
      retired: await retireSnapshots(run, kept),
      rows: sum(Object.values(manifest.row_counts)),
      bytes: sum(Object.values(manifest.files).map(({ bytes }) => bytes)),
    };
  },
};

/**
 * Builds and audits a snapshot in a folder of its own, which `current` does not name yet. Throws with the folder
 * removed.
 */
async function build(
  run: Run,
  state: StateDatabase,
  sites: Sites,
  fingerprint: string,
  published: Manifest | undefined,
): Promise<{ manifest: Manifest; audits: number }> {
  const { logger, effects } = run;
  const snapshotId = snapshotIdOf(run.runId, run.asOf);
  const folder = join(run.data.published, snapshotId);
  // A run whose row was lost with a damaged log had the same number, and may have left a folder that never became
  // current.
  await effects.files.remove(folder, 'leftover snapshot: removed');
  try {
    const linked = await linkFiles(run, state, folder);
    const built = await buildDatabase(run, state, sites, folder, linked, published);
    const [manifest] = await bothToTheirEnd(
      writeManifest(run, folder, snapshotId, fingerprint, linked, built),
      // A published snapshot must never be ahead of what a lost log leaves of the state.
      effects.perform('state: checkpointed before the switch', () => state.connection.run('CHECKPOINT')),
    );
    return { manifest, audits: built.audits };
  } catch (error) {
    // The first error is the one to report, and the next publish removes a folder without a manifest as well.
    try {
      await effects.files.remove(folder, 'half-built snapshot: removed');
      if (error instanceof AuditError) await invalidateMartsSince(state, published?.run_id ?? 0);
    } catch (failure) {
      logger.warn(
        { err: failure, folder },
        'cleaning up after this failed publish failed, too; nothing is published, and the next publish removes the folder',
      );
    }
    throw error;
  }
}

/** Makes a built snapshot the current one, and the lake one of those that are `kept`. */
async function activate(run: Run, state: StateDatabase, snapshotId: string, kept: ReadonlySet<string>): Promise<void> {
  const second = await state.connect();
  // Before the switch, so that no published link is unknown to the tracker, and the lake has what is current; before
  // snapshots are retired, which the lake names until now.
  await bothToTheirEnd(
    publishRoutes(run, state.connection, snapshotId),
    writeLake(run.data, kept, run.effects, second),
  );
  await switchCurrent(run.data, snapshotId, run.effects.files);
}

async function requireCurrentMarts(state: StateDatabase, asked: Moment | undefined): Promise<Moment> {
  const asOf = await currentMarts(state);
  const advice = 'run `offerline run models` with the as-of that you want, or `offerline run refresh`';
  if (asOf === undefined)
    throw new UsageError(`marts are out of date: new data was ingested after they were computed; ${advice}`);
  if (asked !== undefined && asked !== asOf)
    throw new UsageError(`the figures are as of ${asOf}, not ${asked}: ${advice}`);
  return asOf;
}

/**
 * Throws `UsageError` where an as-of that was asked for is older than the published one, `OfferlineError` where that of
 * the clock is: another machine was faster, or its clock is a little ahead.
 */
export function assertNotOlder(
  { asOf, wallClock }: Pick<Run, 'asOf' | 'wallClock'>,
  published: Moment,
  { isAskedFor = true } = {},
): void {
  if (compareMoments(asOf, published) >= 0) return;
  const isAhead = aheadOfClock(published, dateOf(wallClock).getTime()) > 0;
  if (!isAhead && !isAskedFor)
    throw new OfferlineError(
      `another run has published as of ${published}, which is after this one's clock, ${asOf}; nothing is missing, run it again`,
    );
  const advice = isAhead
    ? `, which is ahead of this machine's clock: ${futureTimestampsAdvice}`
    : '; pass --allow-older to publish the past';
  throw new UsageError(`as-of ${asOf} is older than the published snapshot's ${published}${advice}`);
}

/**
 * Returns the moment from which changes count that publishing finds: as-of, but after that of the published snapshot,
 * since a publisher who syncs by `updated_since` asks for what is later than that. One that an as-of before it and the
 * clock both contradict is not waited for.
 */
function changesCountFrom({ asOf, wallClock }: Run, published: Manifest | undefined): Moment {
  if (published === undefined || compareMoments(published.as_of, asOf) < 0) return asOf;
  const isWrong = published.as_of !== asOf && aheadOfClock(published.as_of, dateOf(wallClock).getTime()) > 0;
  return isWrong ? asOf : shiftMoment(published.as_of, 1n);
}

/** Returns a digest of everything that a snapshot's content depends on. */
async function fingerprintOf(run: Run, state: StateDatabase, sites: Sites): Promise<string> {
  const { hide_capped_offers } = run.settings;
  const decisive = [schemaVersion, run.asOf, await readRevision(state.connection), sites.digest, hide_capped_offers];
  return createHash('sha256').update(JSON.stringify(decisive)).digest('hex');
}

async function linkFiles(run: Run, { connection }: StateDatabase, folder: string): Promise<LinkedFile[]> {
  const linked = await linkedFiles(connection, run.data, run.asOf);
  for (const subfolder of new Set(['', tablesFolder, ...linked.map(({ path }) => dirname(path))]))
    await run.effects.files.makeDirectory(join(folder, subfolder));
  await severalAtOnce(linked, (file) =>
    run.effects.files.hardLink(file.warehousePath, join(folder, file.path), 'snapshot file: linked'),
  );
  return linked;
}

interface Built {
  audits: number;
  rowCounts: Manifest['row_counts'];
  deliveries: Manifest['deliveries'];
  /** Files of tables, whose bytes are on the disk. */
  tableFiles: Manifest['files'];
}

async function buildDatabase(
  run: Run,
  state: StateDatabase,
  sites: Sites,
  folder: string,
  linked: LinkedFile[],
  published: Manifest | undefined,
): Promise<Built> {
  const { connection } = state;
  const parquet = (group: string) =>
    linked.filter((file) => file.group === group).map(({ path }) => join(folder, path));
  const rowsOf = (group: string) =>
    linked.filter((file) => file.group === group).reduce((sum, { rows }) => sum + rows, 0);
  const isSmall = await hasFewOffers(connection);
  // Large tables would be compressed worse.
  const options = isSmall ? [noLog, smallBlocks] : [noLog];
  await run.effects.perform('analytics.duckdb: made', () =>
    connection.run(`ATTACH ${quoted(join(folder, analyticsFile))} AS snapshot (${options.join(', ')})`),
  );
  try {
    // Texts of many offers take half the room by it, in each snapshot that is kept.
    if (!isSmall) await connection.run('RESET disabled_compression_methods');
    await connection.run('BEGIN TRANSACTION');
    const tableRows = await run.effects.perform('analytics.duckdb: filled', () =>
      writeAnalytics(connection, run, sites.sites, folder, parquet),
    );
    await run.effects.perform('analytics.duckdb: written', () => connection.run('COMMIT'));
    const publishedFolder = published && join(run.data.published, published.snapshot_id);
    // Files of tables need nothing but what is committed, and are written meanwhile.
    const [audits, tableFiles] = await bothToTheirEnd(
      auditSnapshot(connection, run, published, parquet).then(async (passed) => {
        await writeFeedFiles(connection, folder, publishedFolder, run.asOf, run.effects.files);
        return passed;
      }),
      state.connect().then((second) => writeTableFiles(second, folder, tableRows, run.effects.files)),
    );
    const rowCounts = {
      clicks: rowsOf('events/clicks'),
      conversions: rowsOf('marts/conversions'),
      offer_hourly: rowsOf('marts/offer_hourly'),
      offer_daily: rowsOf('marts/offer_daily'),
      report_daily: rowsOf('marts/report_daily'),
      postbacks: rowsOf('marts/postbacks'),
      postback_attempts: rowsOf('marts/postback_attempts'),
      ...tableRows,
    };
    const [summary] = await readMart(connection, 'delivery_summary');
    if (summary === undefined) throw new Error('delivery_summary gave no row');
    const bySite = await readMart(connection, 'delivery_sites');
    await run.effects.perform('analytics.duckdb: checkpointed', () => connection.run('CHECKPOINT snapshot'));
    return { audits, rowCounts, deliveries: { ...summary, sites: bySite }, tableFiles };
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    await connection.run(`${withoutFsst}; DETACH snapshot`);
  }
}

async function writeManifest(
  run: Run,
  folder: string,
  snapshotId: string,
  fingerprint: string,
  linked: LinkedFile[],
  built: Built,
): Promise<Manifest> {
  const { files } = run.effects;
  if ((await readdir(folder)).some((name) => name.endsWith('.wal'))) {
    throw new OfferlineError(`${analyticsFile} was closed with a log left beside it; nothing was published, run again`);
  }
  const manifest: Manifest = {
    snapshot_id: snapshotId,
    as_of: run.asOf,
    created_at: momentOfMilliseconds(run.effects.now()),
    schema_version: schemaVersion,
    run_id: run.runId,
    fingerprint,
    row_counts: built.rowCounts,
    deliveries: built.deliveries,
    files: {},
  };
  for (const { path, sha256, bytes, rows } of linked) manifest.files[path] = { sha256, bytes, rows };
  await files.writeFile(join(folder, readmeFile), readmeText(snapshotId, run.asOf), 'readme: written');
  const own = [analyticsFile, feedOffersFile, feedSitesFile, readmeFile];
  const subfolders = new Set([tablesFolder, ...linked.flatMap(({ path }) => [dirname(path), dirname(dirname(path))])]);
  await bothToTheirEnd(
    syncSeveral(folder, own, files),
    severalAtOnce([...subfolders], (subfolder) =>
      files.syncDirectory(join(folder, subfolder), 'snapshot subfolder: synced'),
    ),
  );
  for (const name of own) manifest.files[name] = await digestOf(join(folder, name));
  Object.assign(manifest.files, built.tableFiles);
  await replaceFile(join(folder, manifestFile), manifestText(manifest), 'manifest', files);
  await files.syncDirectory(run.data.published, 'published folder: synced');
  return manifest;
}
