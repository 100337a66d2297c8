import { checkFiles, type CheckedLanding } from '../landing/check-files.ts';
import { findLandingFiles, type LandingScan } from '../landing/find-files.ts';
import { QuarantineError, type CheckedFile, type LandingFile } from '../landing/landing-file.ts';
import { readRecords } from '../landing/records.ts';
import type { Sites } from '../sites/sites.ts';
import { dateOf } from '../stage/as-of.ts';
import type { Run, Stage } from '../stage/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';
import { eventFilePaths } from '../warehouse/event-files.ts';
import { countChange } from '../warehouse/facts.ts';
import { assertSameEventKeys } from './event-key.ts';
import { attributeConversions, recordConversionEvents, touchDaysOf } from './attribution.ts';
import { syncCatalogs } from './catalog.ts';
import { rollUpClicks } from './click-roll-up.ts';
import { ingestLog } from './ingest-log.ts';
import { awaitPostbacks, writeOutbox } from './outbox.ts';
import { markReportsOfNewEvents, markReportsOfNewOffers } from './outdated-reports.ts';
import { knownLogs, latestCatalogDigests, logKey, rememberFiles, unseenFiles } from './ledger.ts';
import { catalogColumns, readNews, type NewContent, type News } from './read-news.ts';
import { sweepUnnamedFiles } from './sweep.ts';

export interface IngestInput {
  state: StateDatabase;
  /** Whose postback addresses, commissions and reward rates decide what is told to whom. */
  sites: Pick<Sites, 'sites'>;
}

export interface IngestSummary {
  /** Landing files taken up, whatever became of them. */
  files: number;
  quarantined: number;
  /** Of the landing files taken up, as they lie there. */
  bytes: number;
  rows: number;
  accepted: number;
  duplicates: number;
  rejected: number;
  warnings: number;
  /** Content versions of offers written. */
  offerVersions: number;
  /** Postbacks written to the outbox. */
  postbacks: number;
}

/**
 * Landing files into the warehouse: catalog, events, ledger, rejects, attribution, the click roll-up and the postbacks
 * that they cause, in one transaction. A file that changed while it was read waits for the next run.
 */
export const ingestStage: Stage<IngestInput, IngestSummary> = {
  name: 'ingest',
  async run(run, { state, sites }) {
    await assertSameEventKeys(state.connection);
    await sweepUnnamedFiles(run, state);
    await emptyScratch(run);
    const scan = await findLandingFiles(run.data.landing);
    for (const ignored of scan.ignored) run.logger.warn(ignored, 'left aside');
    const checked = await checkNewFiles(run, state, scan.files);
    const news = await readNews(run, state, await withoutKnownContent(state, checked));
    const summary = await state.transaction(async () => {
      const taken = await takeUp(run, state, scan, news);
      await rememberFiles(state, [...checked.readable, ...checked.broken.map(({ file }) => file)], run.effects.now());
      // Without news, too: time alone reaches an event that was stamped ahead.
      const postbacks = await writeOutbox(state.connection, sites.sites, run.asOf);
      if (taken.files > 0 || postbacks > 0) await countChange(state.connection);
      return { ...taken, postbacks };
    }, 'ingest');
    await emptyScratch(run);
    return summary;
  },
};

async function emptyScratch({ data, effects }: Run): Promise<void> {
  await effects.files.remove(data.scratch, 'scratch: emptied');
  await effects.files.makeDirectory(data.scratch);
}

async function checkNewFiles(run: Run, state: StateDatabase, files: LandingFile[]): Promise<CheckedLanding> {
  const unseen = await unseenFiles(state, files);
  if (unseen.length === 0) return { readable: [], broken: [], unstable: [] };
  const total = unseen.reduce((sum, file) => sum + file.bytes, 0);
  let read = 0;
  run.progress.start('reading landing files', total);
  try {
    const checked = await run.effects.perform('landing files: copied plain', () => checkFiles(unseen, run.data.scratch, {
      onRead: (bytes) => run.progress.advance((read += bytes)), unpackedLimit: run.settings.unpacked_gigabytes * 1e9,
    }));
    for (const { path } of checked.unstable) run.logger.warn({ file: path }, 'changed while it was read, or could not be opened; the next run looks again');
    return checked;
  } finally {
    run.progress.finish(`${unseen.length} files, ${total} bytes`);
  }
}

/**
 * Drops what brings no news: log bytes that count already under any name, and a catalog file that is as it was when it
 * was last taken up. A catalog may return to an earlier state.
 */
async function withoutKnownContent(state: StateDatabase, { readable, broken }: CheckedLanding): Promise<NewContent> {
  const logs = await knownLogs(state);
  const catalogs = await latestCatalogDigests(state);
  const isNews = (file: CheckedFile, status: 'loaded' | 'quarantined') => {
    if (file.kind === 'offers') return catalogs.get(file.path) !== file.sha256;
    if (logs.has(logKey(file, 'loaded')) || logs.has(logKey(file, 'quarantined'))) return false;
    logs.add(logKey(file, status));
    return true;
  };
  return {
    readable: readable.filter((file) => isNews(file, 'loaded')),
    broken: broken.filter(({ file }) => isNews(file, 'quarantined')),
  };
}

async function takeUp(run: Run, state: StateDatabase, scan: LandingScan, { files, catalogs, clicks, conversions, nextFileId }: News): Promise<IngestSummary> {
  const summary: IngestSummary = { files, quarantined: 0, bytes: 0, rows: 0, accepted: 0, duplicates: 0, rejected: 0, warnings: 0, offerVersions: 0, postbacks: 0 };
  if (summary.files === 0) return summary;
  const { connection } = state;
  summary.offerVersions = await ingestCatalogs(run, state, scan, catalogs, nextFileId);
  const newClickFiles = await ingestLog(run, state, clicks.schema, clicks.batch, clicks.broken, nextFileId);
  const newConversionFiles = await ingestLog(run, state, conversions.schema, conversions.batch, conversions.broken, nextFileId);
  if (newClickFiles.length > 0 || newConversionFiles.length > 0) {
    await recordConversionEvents(connection, newConversionFiles);
    await awaitPostbacks(connection);
    await attributeConversions(connection, await eventFilePaths(connection, run.data, 'clicks'), newClickFiles);
    await rollUpClicks(connection, newClickFiles);
    await markReportsOfNewEvents(connection, run.runId, { clicks: newClickFiles.length > 0 });
  }

  const [ledger] = await queryRows<Omit<IngestSummary, 'files' | 'offerVersions' | 'postbacks'>>(
    connection,
    `SELECT count(*) FILTER (status = 'quarantined') AS quarantined, sum(rows) AS rows, sum(accepted) AS accepted,
       sum(duplicates) AS duplicates, sum(rejected) AS rejected, sum(warnings) AS warnings, sum(bytes) AS bytes
     FROM ingest_files WHERE run_id = ${run.runId}`,
  );
  return { ...summary, ...ledger };
}

async function ingestCatalogs(
  run: Run, state: StateDatabase, scan: LandingScan, { readable, broken }: NewContent, nextFileId: () => number,
): Promise<number> {
  const { connection } = state;
  const problems = new Map(broken.map(({ file, reason, detail }) => [file.path, new QuarantineError(reason, detail)]));
  const sync = await syncCatalogs(connection, {
    files: [...readable, ...broken.map(({ file }) => file)],
    landed: scan.files.filter((file) => file.kind === 'offers'),
    readRecords: async (file) => {
      const problem = problems.get(file.path);
      if (problem !== undefined) throw problem;
      return readRecords(connection, file, catalogColumns);
    },
    settings: run.settings,
    runId: run.runId,
    asOf: run.asOf,
    wallClock: dateOf(run.wallClock),
    nextFileId,
  });
  for (const warning of sync.warnings) run.logger.warn(warning);
  for (const file of sync.files) if (file.status === 'quarantined') run.logger.warn({ file: file.path, reason: file.reason }, 'quarantined: nothing of this file was loaded');
  await touchDaysOfNewOffers(state, run.runId, sync.changes.filter(({ version }) => version === 1).map(({ offerId }) => offerId));
  return sync.changes.length;
}

/** A new offer gives earlier clicks and conversions a home: its first version reaches back for ever. Later versions change no past figure. */
async function touchDaysOfNewOffers({ connection }: StateDatabase, runId: number, offerIds: number[]): Promise<void> {
  if (offerIds.length === 0) return;
  await connection.run(`CREATE OR REPLACE TEMP TABLE new_offers AS SELECT * FROM offers WHERE offer_id IN (${offerIds.join(', ')})`);
  const named = '(offer_id IN (SELECT offer_id FROM new_offers) OR (source, external_id) IN (SELECT (source, external_id) FROM new_offers))';
  await connection.run(`INSERT OR IGNORE INTO touched_days SELECT DISTINCT hour::DATE FROM click_hourly WHERE ${named}`);
  await touchDaysOf(connection, `SELECT conversion_id FROM conversion_events WHERE click_id IN (SELECT click_id FROM conversion_clicks WHERE ${named})`);
  await markReportsOfNewOffers(connection, runId, named);
}
