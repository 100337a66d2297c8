import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import { catalogRecords } from '../landing/catalog/catalog-records.ts';
import { checkFiles, unfinishedForNs, type CheckedLanding } from '../landing/files/check-files.ts';
import { findLandingFiles } from '../landing/files/find-files.ts';
import { knownFiles, landingTrouble, type KnownFile } from '../landing/files/landing-trouble.ts';
import { QuarantineError, type CheckedFile, type LandingFile } from '../landing/landing-file.ts';
import { eventKinds } from '../../kit/vocabulary/values.ts';
import type { Sites } from '../../kit/sites/sites.ts';
import { dateOf } from '../../kit/time/moment.ts';
import type { Run, Stage } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { dropTempTables } from '../../kit/duckdb/temp-table.ts';
import { kyselyOn } from '../warehouse/kysely.ts';
import { ensureKeyRuns } from '../warehouse/keys/upkeep.ts';
import { bumpRevision } from '../warehouse/metadata.ts';
import { DuckdbEngine } from './engine/duckdb-engine.ts';
import type { EventEngine } from './engine/event-engine.ts';
import { attributeConversions, recordConversionEvents } from './events/attribution.ts';
import { readMissingCountries } from './events/missing-countries.ts';
import { warnOfOddCredits } from './events/odd-credits.ts';
import { syncCatalogs, type CatalogSyncResult } from './catalog/catalog.ts';
import { firstSeen } from './catalog/catalog-files.ts';
import { rollUpClicks } from './events/click-roll-up.ts';
import { ingestLog } from './logs/ingest-log.ts';
import { awaitPostbacks, writeOutbox } from './events/outbox.ts';
import { markDaysOfNewOffers, markReportsOfNewEvents } from './events/mark-dirty.ts';
import { knownLogs, latestCatalogDigests, logKey, rememberFiles, seenFiles, type SeenFile } from './ledger/ledger.ts';
import { filesToReadAgain, type LedgerRow, type NewFile, type ReadAgain } from './ledger/read-again.ts';
import { openNewFiles, maxUnpackedBytesOf, type NewContent, type NewFiles } from './open-new-files.ts';
import { removeReadingNote } from './reading-note.ts';
import { admit, type Admitted } from './suspects.ts';
import { isMappedBy, landingMapping, mappingDigest } from './landing-mappings.ts';
import { rememberStates } from './states/state-events.ts';
import { redactKeptTexts } from './ledger/redact-kept-texts.ts';
import { knownSecrets } from './known-secrets.ts';
import { unreadableFiles } from './ledger/unreadable.ts';
import { warnOfConflicts } from './ledger/warn-of-conflicts.ts';
import { warnOfQuarantine } from './ledger/warn-of-quarantine.ts';
import { warnOfRoundedIds } from './ledger/warn-of-rounded-ids.ts';
import { sweepUnnamedFiles } from './ledger/sweep.ts';
import { warnOfUnknownSources } from './warn-of-unknown-sources.ts';

export interface IngestInput {
  state: StateDatabase;
  /** Whose postback addresses, commissions and reward rates decide which postbacks are sent to whom. */
  sites: Pick<Sites, 'sites'>;
  /** Engine that reads events and looks them up. Default: the run's own DuckDB. */
  engine?: (run: Run, connection: DuckDBConnection) => EventEngine | Promise<EventEngine>;
}

export interface IngestSummary {
  /** Landing files ingested, whatever became of them. */
  files: number;
  /** Landing files read again, since the configuration that decides what they say has changed. */
  readAgain: number;
  quarantined: number;
  /** Size of the landing files ingested, packed or not. */
  bytes: number;
  /** Rows of new files, and of files read again those that count from now on. */
  rows: number;
  accepted: number;
  duplicates: number;
  rejected: number;
  /** Among the accepted rows: those of files read again, which count from now on. */
  recovered: number;
  /** Rows of files read again that counted before and count no more, as where a currency has lost its rate. */
  withdrawn: number;
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
  async run(run, input) {
    const { state } = input;
    await sweepUnnamedFiles(run, state);
    await emptyScratch(run);
    const scan = await findLandingFiles(run.data.landing, isMappedBy(run.settings));
    const seenAt = run.effects.now();
    for (const ignored of scan.ignored) run.logger.warn(ignored, 'ignored');
    const trouble = landingTrouble(run.data.landing, await filesOfLedger(run, state), scan.files);
    if (trouble !== undefined) run.logger.warn(trouble);
    await warnOfUnknownSources(run, state, scan.files);
    const seen = await seenFiles(state, scan.files);
    const isSeen = isAmong(seen);
    const readAgain = await filesToReadAgain(state, run.settings);
    const again = readAgain(seen);
    const toRead = scan.files.filter((file) => !isSeen(file) || again.has(file.path));
    const admitted = await admit(run, toRead);
    let summary: IngestSummary;
    try {
      summary = await ingestFiles(run, input, admitted, { seen, seenAt, readAgain });
    } catch (error) {
      // A run that fails did not end by force. The first error is the one to report.
      await removeReadingNote(run).catch(() => undefined);
      throw error;
    }
    await removeReadingNote(run);
    await emptyScratch(run);
    return summary;
  },
};

/** Reads files that are new or mean something else by now, and ingests what is not known yet. */
export async function ingestFiles(
  run: Run,
  { state, sites, engine = duckdbEngine }: IngestInput,
  { files, broken }: Admitted,
  { seen, seenAt, readAgain }: Pick<Landing, 'seenAt'> & { seen: readonly SeenFile[]; readAgain: ReadAgain },
): Promise<IngestSummary> {
  const isSeen = isAmong(seen);
  const unseen = files.filter((file) => !isSeen(file));
  const checked = await checkFilesOf(run, unseen, 'new');
  const checkedNew: CheckedLanding = { ...checked, broken: [...checked.broken, ...broken] };
  const landed = [...seen, ...lookedAt(checkedNew)];
  // The bytes of a file to be read again may have come under another name.
  const again = readAgain(landed);
  const toCheckAgain = files.filter((file) => isSeen(file) && again.has(file.path));
  const checkedAgain = await checkFilesOf(run, toCheckAgain, 'again');
  const known = await withoutKnownContent(state, run.settings, byPath(checkedNew, checkedAgain), again);
  // Nothing is known of their bytes: no other file has the same, and the next run tries them again.
  const unreadable = await unreadableFiles(state, checkedNew.unstable);
  const content = { ...known, broken: [...known.broken, ...unreadable] };
  const newFiles = await openNewFiles(run, state, content);
  await using eventEngine = await engine(run, state.connection);
  const ingested = await state.transaction(async () => {
    const { summary, contentChanged } = await promoteNewFiles(run, state, eventEngine, { newFiles, landed, seenAt });
    const blackedOut = await redactKeptTexts(
      { logger: run.logger, connection: state.connection },
      knownSecrets(run.data, run.settings, sites.sites),
      newFiles.files + newFiles.again.length === 0 ? undefined : ofRun(run, newFiles.again),
    );
    await rememberFiles(state, lookedAt(checkedNew), run.effects.now());
    // Without new files too: with time alone comes the moment of an event that was stamped ahead.
    const postbacks = await writeOutbox(state.connection, sites.sites, run.asOf);
    if (contentChanged || blackedOut || postbacks > 0) await bumpRevision(state.connection);
    return { ...summary, postbacks };
  }, 'ingest');
  if (ingested.rows > rowsWorthMemory) await dropTempTables(state.connection);
  return ingested;
}

/** SQL: whether a file, by its `file_id`, is one that the run has read. */
function ofRun({ runId }: Run, again: readonly LedgerRow[]): string {
  const ids = again.map(({ file_id }) => file_id);
  return `file_id IN (SELECT file_id FROM ingest_files WHERE run_id = ${runId} ${ids.length === 0 ? '' : `OR file_id IN (${ids.join(', ')})`})`;
}

/** Temporary tables of fewer rows take less memory than is worth a statement. */
const rowsWorthMemory = 1_000_000;

function duckdbEngine(run: Run, connection: DuckDBConnection): EventEngine {
  return new DuckdbEngine(run, connection);
}

/** Files that the landing folder should have. */
async function filesOfLedger({ wallClock }: Run, { connection }: StateDatabase): Promise<KnownFile[]> {
  return queryRows<KnownFile>(connection, knownFiles(`TIMESTAMPTZ '${wallClock}'`));
}

export async function emptyScratch({ data, effects }: Run): Promise<void> {
  await effects.files.remove(data.scratch, 'scratch: emptied');
  await effects.files.makeDirectory(data.scratch);
}

/** Returns what is true of the files that have the name of one of these. */
function isAmong(files: readonly LandingFile[]): (file: LandingFile) => boolean {
  const paths = new Set(files.map(({ path }) => path));
  return ({ path }) => paths.has(path);
}

/** Files that could be read, whole or not. */
function lookedAt({ readable, broken }: CheckedLanding): CheckedFile[] {
  return [...readable, ...broken.map(({ file }) => file)];
}

/** Joins both in the order of paths, in which the first of two equal clicks wins. */
function byPath(one: CheckedLanding, other: CheckedLanding): CheckedLanding {
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return {
    readable: [...one.readable, ...other.readable].toSorted((a, b) => order(a.path, b.path)),
    broken: [...one.broken, ...other.broken].toSorted((a, b) => order(a.file.path, b.file.path)),
    unstable: [...one.unstable, ...other.unstable],
    unfinished: [...one.unfinished, ...other.unfinished],
  };
}

/** `name`: of the scratch folder for plain copies. */
async function checkFilesOf(run: Run, files: LandingFile[], name: string): Promise<CheckedLanding> {
  if (files.length === 0) return { readable: [], broken: [], unstable: [], unfinished: [] };
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  let read = 0;
  const scratch = join(run.data.scratch, name);
  await run.effects.files.makeDirectory(scratch);
  run.progress.start('reading landing files', total);
  try {
    const checked = await run.effects.perform('landing files: copied plain', () =>
      checkFiles(files, scratch, {
        onRead: (bytes) => run.progress.advance((read += bytes)),
        mappingOf: ({ path }) => landingMapping(run.settings, path),
        stop: run.stop,
        limits: {
          maxUnpackedBytes: maxUnpackedBytesOf(run),
          doneBeforeNs: BigInt(dateOf(run.wallClock).getTime()) * 1_000_000n - unfinishedForNs,
        },
      }),
    );
    for (const { path, unreadable } of checked.unstable)
      run.logger.warn(
        { file: path, ...(unreadable && { error: unreadable }) },
        unreadable
          ? 'cannot be opened: let the user who runs offerline read it; the next run looks again'
          : 'changed while it was read; the next run looks again',
      );
    for (const { path } of checked.unfinished)
      run.logger.info(
        { file: path },
        'its last line has no end: it is ingested once that has come, or ten minutes after its last change',
      );
    return checked;
  } finally {
    run.progress.finish(`${files.length} files, ${total} bytes`);
  }
}

/**
 * Drops content that is known: log bytes that count already under any name, and a catalog file whose bytes are those
 * that were last ingested under its name. A catalog may return to an earlier state. What is to be read again stays as
 * long as its bytes are what they were.
 */
async function withoutKnownContent(
  state: StateDatabase,
  settings: Run['settings'],
  { readable, broken }: CheckedLanding,
  again: ReadonlyMap<string, LedgerRow>,
): Promise<NewContent> {
  const files = [...readable, ...broken.map(({ file }) => file)];
  const logs = await knownLogs(state, settings, files);
  const catalogs = await latestCatalogDigests(state, files);
  const unlessKnown = (file: CheckedFile, status: 'loaded' | 'quarantined'): NewFile | undefined => {
    const before = again.get(file.path);
    if (before?.sha256 === file.sha256) return { ...file, before };
    if (file.kind === 'offers') return catalogs.get(file.path) === file.sha256 ? undefined : file;
    const bytes = { ...file, mapping: mappingDigest(settings, file.path) };
    const keyAs = (as: 'loaded' | 'quarantined') => logKey(bytes, as, settings);
    if (logs.has(keyAs('loaded')) || logs.has(keyAs('quarantined'))) return undefined;
    logs.add(keyAs(status));
    return file;
  };
  return {
    readable: readable.flatMap((file) => unlessKnown(file, 'loaded') ?? []),
    broken: broken.flatMap(({ file, ...why }) => {
      const unknown = unlessKnown(file, 'quarantined');
      return unknown === undefined ? [] : [{ file: unknown, ...why }];
    }),
  };
}

interface Landing {
  newFiles: NewFiles;
  /** All files of the landing folder that could be read. */
  landed: readonly SeenFile[];
  /** Moment of the listing, in milliseconds since the epoch. */
  seenAt: number;
}

/** Makes the new files part of the warehouse. `contentChanged`: something that a snapshot shows has changed. */
async function promoteNewFiles(
  run: Run,
  state: StateDatabase,
  engine: EventEngine,
  landing: Landing,
): Promise<{ summary: IngestSummary; contentChanged: boolean }> {
  const { files, again, clicks, conversions, nextFileId } = landing.newFiles;
  const summary: IngestSummary = {
    files,
    readAgain: again.length,
    quarantined: 0,
    bytes: 0,
    rows: 0,
    accepted: 0,
    duplicates: 0,
    rejected: 0,
    recovered: 0,
    withdrawn: 0,
    warnings: 0,
    offerVersions: 0,
    postbacks: 0,
  };
  const { connection } = state;
  const readCountries = await readMissingCountries({ ...run, connection }, engine);
  if (files + again.length === 0) return { summary, contentChanged: readCountries };
  const catalogs = await ingestCatalogs(run, state, landing);
  summary.offerVersions = catalogs.changes.length;
  for (const kind of eventKinds) await ensureKeyRuns({ ...run, connection }, kind, run.runId);
  const newClickFiles = await ingestLog(run, state, engine, clicks, nextFileId);
  const newConversionFiles = await ingestLog(run, state, engine, conversions, nextFileId);
  await rememberStates(connection, conversions.emitted);
  if (newClickFiles.length > 0 || newConversionFiles.length > 0) {
    const newEvents = await recordConversionEvents(run, connection, newConversionFiles);
    await awaitPostbacks(connection, newEvents);
    const foundClicks = await attributeConversions({ ...run, connection }, engine, newEvents, newClickFiles);
    await warnOfOddCredits(run, connection, newEvents, foundClicks);
    const newHours = await rollUpClicks(connection, engine, newClickFiles);
    await markReportsOfNewEvents(connection, run.runId, { newEvents, foundClicks, newHours });
  }

  const [ledger] = await queryRows<
    Omit<IngestSummary, 'files' | 'readAgain' | 'recovered' | 'withdrawn' | 'offerVersions' | 'postbacks'>
  >(
    connection,
    `SELECT count(*) FILTER (status = 'quarantined') AS quarantined, coalesce(sum(rows), 0) AS rows, coalesce(sum(accepted), 0) AS accepted,
       coalesce(sum(duplicates), 0) AS duplicates, coalesce(sum(rejected), 0) AS rejected, coalesce(sum(warnings), 0) AS warnings,
       coalesce(sum(bytes), 0) AS bytes
     FROM ingest_files WHERE run_id = ${run.runId}`,
  );
  Object.assign(summary, ledger);
  await warnOfRoundedIds(run, connection);
  await warnOfConflicts(run, connection);
  const moved = await movedRows(connection, run, again);
  const contentChanged =
    readCountries ||
    files > 0 ||
    catalogs.changes.length > 0 ||
    catalogs.ledgerChanged ||
    again.some(({ kind }) => kind !== 'offers');
  return {
    summary: {
      ...summary,
      rows: summary.rows + moved.recovered,
      accepted: summary.accepted + moved.recovered,
      ...moved,
    },
    contentChanged,
  };
}

/** Counts rows of files read again: those that count from now on, and those that count no more. */
async function movedRows(
  connection: DuckDBConnection,
  { runId }: Run,
  again: readonly LedgerRow[],
): Promise<{ recovered: number; withdrawn: number }> {
  if (again.length === 0) return { recovered: 0, withdrawn: 0 };
  const accepted = new Map(again.map((before) => [before.file_id, before.accepted]));
  const rows = await kyselyOn(connection)
    .selectFrom('ingest_files')
    .select(['file_id', 'accepted'])
    .where('run_id', '<>', runId)
    .where('file_id', 'in', [...accepted.keys()])
    .execute();
  const moved = rows.map((row) => row.accepted - (accepted.get(row.file_id) ?? 0));
  const sum = (numbers: number[]) => numbers.reduce((total, each) => total + Math.max(0, each), 0);
  return { recovered: sum(moved), withdrawn: sum(moved.map((each) => -each)) };
}

async function ingestCatalogs(
  run: Run,
  state: StateDatabase,
  { newFiles, landed, seenAt }: Landing,
): Promise<CatalogSyncResult> {
  const { connection } = state;
  const { readable, broken } = newFiles.catalogs;
  const problems = new Map(broken.map(({ file, reason, detail }) => [file.path, new QuarantineError(reason, detail)]));
  const sync = await syncCatalogs(connection, {
    files: [...readable, ...broken.map(({ file }) => file)].map((file) =>
      firstSeen(file, file.before ? BigInt(file.before.seen_ns) : BigInt(Math.trunc(seenAt)) * 1_000_000n),
    ),
    landed: landed.filter((file) => file.kind === 'offers'),
    readRecords: (file) => {
      const problem = problems.get(file.path);
      if (problem !== undefined) throw problem;
      return catalogRecords(file);
    },
    settings: run.settings,
    runId: run.runId,
    asOf: run.asOf,
    wallClock: dateOf(run.wallClock),
    nextFileId: newFiles.nextFileId,
  });
  for (const warning of sync.warnings) run.logger.warn(warning);
  for (const file of sync.quarantined) warnOfQuarantine(run, file);
  await markDaysOfNewOffers(
    connection,
    run.runId,
    sync.changes.filter(({ version }) => version === 1).map(({ offerId }) => offerId),
  );
  return sync;
}
