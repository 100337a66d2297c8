import type { DuckDBConnection } from '@duckdb/node-api';
import type { Settings } from '../config/settings.ts';
import { QuarantineError, type CheckedFile, type LandingRecord } from '../landing/landing-file.ts';
import type { Moment } from '../stage/as-of.ts';
import { readExport, type CatalogExport } from './catalog-export.ts';
import { candidates, compareAge, type LoadedExport } from './catalog-files.ts';
import { forgetAcceptance, isAccepted, replaceHeldExports } from './catalog-holds.ts';
import { CatalogLedger, type CatalogLedgerEntry } from './catalog-ledger.ts';
import { planCatalog, type CatalogPlan, type Change, type HeldExport, type KnownOffer, type SourceExports } from './catalog-plan.ts';
import { readIdOwners, readKnownOffers, readLoadedExport } from './catalog-state.ts';
import { writeDestinations, writeVersions } from './catalog-versions.ts';

export interface CatalogSyncInput {
  /** Catalog files of any source that were not taken up before. */
  files: readonly CheckedFile[];
  /** All catalog files that lie in the landing folder now, known ones too. */
  landed: readonly LoadedExport[];
  /** Throws `QuarantineError` for a file that cannot be read whole. */
  readRecords: (file: CheckedFile) => Promise<LandingRecord[]>;
  settings: Pick<Settings, 'sources' | 'rates'>;
  runId: number;
  asOf: Moment;
  wallClock: Date;
  nextFileId: () => number;
}

export interface CatalogSyncResult {
  /** What was written to the ledger. */
  files: CatalogLedgerEntry[];
  changes: { offerId: number; source: string; externalId: string; change: Change; version: number; validFrom: Moment }[];
  /** For the operator, a sentence each. */
  warnings: string[];
}

/**
 * Brings the catalog in line with the exports that arrived: versions, ids, ledger, rejects and warnings.
 * Runs within the caller's transaction on the warehouse, whose time zone is UTC.
 */
export async function syncCatalogs(connection: DuckDBConnection, input: CatalogSyncInput): Promise<CatalogSyncResult> {
  const ledger = new CatalogLedger(input.runId, input.wallClock, input.nextFileId);
  const sources: SourceExports[] = [];
  for (const [source, files] of bySource(input.files)) sources.push(await readSource(connection, source, files, input, ledger));

  const known: KnownOffer[] = [];
  for (const { source } of sources) known.push(...(await readKnownOffers(connection, source)));
  const plan = planCatalog(input.asOf, known, sources.length === 0 ? [] : await readIdOwners(connection), sources);

  recordPlanned(plan, sources, ledger);
  await writeVersions(connection, plan.versions, input.runId, input.asOf);
  await writeDestinations(connection, plan.destinations);
  await ledger.write(connection);
  await settleHolds(connection, plan, sources, input.files);
  return {
    files: ledger.entries,
    changes: plan.versions.map(({ offerId, source, externalId, change, version, validFrom }) => ({ offerId, source, externalId, change, version, validFrom })),
    warnings: [...plan.held.map(heldMessage), ...sources.flatMap(incompleteMessages)],
  };
}

/** By name, so that ids are assigned in the same order whatever order the files were found in. */
function bySource(files: readonly CheckedFile[]): [string, CheckedFile[]][] {
  const groups = Map.groupBy(files, ({ source }) => source ?? '');
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Reads what counts of a source's new files; the others go to the ledger at once. */
async function readSource(connection: DuckDBConnection, source: string, files: CheckedFile[], input: CatalogSyncInput, ledger: CatalogLedger): Promise<SourceExports> {
  const { sources, rates } = input.settings;
  const settings = Object.hasOwn(sources, source) ? sources[source] : undefined;
  const mode = settings?.mode ?? 'full';
  const reading = { currencyRates: rates, timeZone: settings?.time_zone, wallClock: input.wallClock };
  const recordsOf = async (file: CheckedFile): Promise<LandingRecord[] | undefined> => {
    try {
      return await input.readRecords(file);
    } catch (error) {
      if (!(error instanceof QuarantineError)) throw error;
      ledger.unread(file, 'quarantined', error.reason);
      return undefined;
    }
  };

  const exports: CatalogExport[] = [];
  if (mode === 'delta') {
    for (const file of files.toSorted(compareAge)) {
      const records = await recordsOf(file);
      if (records) exports.push(readExport(file, records, reading));
    }
    return { source, mode, exports, released: false };
  }
  const accepted = new Set<CheckedFile>();
  for (const file of files) if (await isAccepted(connection, file)) accepted.add(file);
  const { newestFirst, outdated } = candidates(files, await readLoadedExport(connection, source), input.landed, accepted);
  // Also those that cannot decide are read: what is unreadable is to be known, however old.
  for (const file of [...newestFirst, ...outdated]) {
    const records = await recordsOf(file);
    if (records === undefined) continue;
    if (exports.length === 0 && !outdated.includes(file)) exports.push(readExport(file, records, reading));
    else ledger.unread(file, 'superseded', 'older_export');
  }
  const [decides] = exports;
  return { source, mode, exports, released: decides !== undefined && accepted.has(decides.file) };
}

/** Moves rows whose id was taken to the rejects and writes every file that was read to the ledger. */
function recordPlanned(plan: CatalogPlan, sources: readonly SourceExports[], ledger: CatalogLedger): void {
  const taken = new Set(plan.idTaken.map(({ accepted }) => accepted));
  for (const { catalog } of plan.idKept) catalog.warnings.add({ warning: 'id_kept', field: 'id' });
  for (const { mode, exports } of sources) {
    for (const catalog of exports) {
      if (mode === 'full' && catalog.incomplete) catalog.warnings.add({ warning: catalog.incomplete, field: null });
      const rejected = catalog.accepted.filter((row) => taken.has(row)).map(({ record }) => ({ record, reason: 'id_taken' }));
      const held = plan.held.find((each) => each.catalog === catalog);
      ledger.read(
        { ...catalog, accepted: catalog.accepted.filter((row) => !taken.has(row)), rejected: [...catalog.rejected, ...rejected] },
        held ? 'held' : 'loaded',
        held ? `would_remove ${held.removes} of ${held.active}` : null,
      );
    }
  }
}

/** An operator's word is used up by the file's next reading; an export that is fine replaces the older held ones. */
async function settleHolds(connection: DuckDBConnection, plan: CatalogPlan, sources: readonly SourceExports[], files: readonly CheckedFile[]): Promise<void> {
  for (const file of files) await forgetAcceptance(connection, file);
  for (const { source, mode, exports: [decides] } of sources) {
    const loaded = mode === 'full' && decides?.incomplete === null && !plan.held.some(({ catalog }) => catalog === decides);
    if (loaded) await replaceHeldExports(connection, source, decides.file);
  }
}

function heldMessage({ catalog, removes, active }: HeldExport): string {
  return `${catalog.file.path} is held: it would remove ${removes} of ${active} active offers. \`offerline offers accept\` lets it, or land a newer export`;
}

const incompleteReasons = {
  empty_export: 'is empty',
  truncated_export: 'breaks off in the middle of a row',
  unidentified_reject: 'has a rejected row that does not tell its external_id',
};

function incompleteMessages({ mode, exports }: SourceExports): string[] {
  if (mode === 'delta') return [];
  return exports.flatMap(({ file, incomplete }) => (incomplete ? [`${file.path} ${incompleteReasons[incomplete]}, so no offer was removed`] : []));
}
