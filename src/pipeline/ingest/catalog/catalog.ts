import type { DuckDBConnection } from '@duckdb/node-api';
import { QuarantineError, type LandingRecord } from '../../landing/landing-file.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import { readExport, type CatalogExport } from './catalog-export.ts';
import { candidates, compareAge, type LandedExport } from './catalog-files.ts';
import { dropApproval, isAccepted, replaceHeldExports } from './catalog-holds.ts';
import { CatalogLedger, type CatalogLedgerEntry } from './catalog-ledger.ts';
import {
  applicable,
  planCatalog,
  plannedOffers,
  type AppliedExports,
  type CatalogPlan,
  type OfferChange,
  type HeldExport,
  type KnownOffer,
  type SourceExports,
} from './catalog-plan.ts';
import { readIdOwners, readKnownOffers, readLoadedExport, readPresentOffers } from './catalog-state.ts';
import { writeDestinations, writeVersions } from './catalog-versions.ts';
import { readKnownRecords, writeSettledRecords, type KnownRecords } from './offer-records.ts';
import { readingDigest } from './reading-digest.ts';
import type { NewFile } from '../ledger/read-again.ts';
import { catalogReadingSettings, sourceSettings, type DecidingSettings } from '../ledger/reading-settings.ts';

export interface CatalogSyncInput {
  /** Catalog files of any source that are new or read again; as they were first seen. */
  files: readonly NewFile[];
  /** Catalog files that are in the landing folder now, known ones too. */
  landed: readonly LandedExport[];
  /**
   * A file's records, some at a time. Throws `QuarantineError`, at once or later, for one that cannot be read whole.
   */
  readRecords: (file: NewFile) => AsyncIterable<LandingRecord[]>;
  settings: DecidingSettings;
  runId: number;
  asOf: Moment;
  wallClock: Date;
  nextFileId: () => number;
}

export interface CatalogSyncResult {
  /** Rows added to the ledger. */
  files: CatalogLedgerEntry[];
  /** True where the ledger's row of a file that was read again has changed. */
  ledgerChanged: boolean;
  changes: {
    offerId: number;
    source: string;
    externalId: string;
    change: OfferChange;
    version: number;
    validFrom: Moment;
  }[];
  /** Sentences for the operator. */
  warnings: string[];
}

/**
 * Brings the catalog in line with the exports that arrived: versions, ids, ledger, rejects and warnings.
 * Runs within the caller's transaction on the warehouse, whose time zone is UTC.
 */
export async function syncCatalogs(connection: DuckDBConnection, input: CatalogSyncInput): Promise<CatalogSyncResult> {
  const ledger = new CatalogLedger(input.runId, input.wallClock, input.nextFileId);
  const sources: SourceExports[] = [];
  const warnings: string[] = [];
  for (const [source, files] of bySource(input.files))
    sources.push(await readSource(connection, source, files, input, ledger, warnings));

  const { applied, held } = applicable(sources);
  const known = await knownOffers(connection, applied);
  const plan = planCatalog(input.asOf, known, await idOwners(connection, applied, known), applied);

  recordPlanned(plan, held, sources, ledger, input.settings);
  await writeVersions(connection, plan.versions, input.runId, input.asOf);
  await writeDestinations(connection, plan.destinations);
  await writeSettledRecords(connection, plan.settled, input.wallClock);
  const ledgerChanged = await ledger.write(connection);
  await resolveHolds(connection, held, sources, input.files);
  return {
    files: ledger.entries,
    ledgerChanged,
    changes: plan.versions.map(({ offerId, source, externalId, change, version, validFrom }) => ({
      offerId,
      source,
      externalId,
      change,
      version,
      validFrom,
    })),
    warnings: [...warnings, ...held.map(heldMessage), ...sources.flatMap(incompleteMessages)],
  };
}

async function knownOffers(connection: DuckDBConnection, applied: readonly AppliedExports[]): Promise<KnownOffer[]> {
  const known: KnownOffer[] = [];
  for (const each of applied)
    known.push(...(await readKnownOffers(connection, each.source.source, plannedOffers(each))));
  return known;
}

/** Reads all ids only where an offer needs a new one. */
async function idOwners(
  connection: DuckDBConnection,
  applied: readonly AppliedExports[],
  known: readonly KnownOffer[],
): ReturnType<typeof readIdOwners> {
  const planned = applied.reduce((sum, each) => sum + new Set(plannedOffers(each)).size, 0);
  if (planned > known.length) return readIdOwners(connection);
  const brought = applied.flatMap(({ source }) =>
    source.exports.flatMap(({ accepted }) => accepted.flatMap(({ offer }) => offer.id ?? [])),
  );
  return [...(await readIdOwners(connection, brought)), ...known];
}

/**
 * Groups files by source, sources by name, so that ids are assigned in an order that does not depend on how files were
 * found.
 */
function bySource(files: readonly NewFile[]): [string, NewFile[]][] {
  const groups = Map.groupBy(files, ({ source }) => source ?? '');
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Reads what counts of a source's files; the others go to the ledger at once. */
async function readSource(
  connection: DuckDBConnection,
  source: string,
  files: NewFile[],
  input: CatalogSyncInput,
  ledger: CatalogLedger,
  warnings: string[],
): Promise<SourceExports> {
  const { mode, time_zone: timeZone } = sourceSettings(input.settings, source);
  const readWith = ({ path }: NewFile) => catalogReadingSettings(input.settings, { source, path });
  const reading = { currencyRates: input.settings.rates, timeZone, wallClock: input.wallClock };
  const known = new Map<string, KnownRecords>();
  const knownRecords = async (readAsSha256: string) => {
    const records =
      known.get(readAsSha256) ?? (await readKnownRecords(connection, source, readAsSha256, input.wallClock));
    known.set(readAsSha256, records);
    return records;
  };
  /** Returns undefined for a file that cannot be read whole. */
  const read = async <Result>(
    file: NewFile,
    use: (records: AsyncIterable<LandingRecord[]>) => Promise<Result>,
  ): Promise<Result | undefined> => {
    try {
      return await use(input.readRecords(file));
    } catch (error) {
      if (!(error instanceof QuarantineError)) throw error;
      ledger.unread(file, 'quarantined', error.reason, readWith(file));
      if (file.before?.status === 'loaded')
        warnings.push(`${file.path} cannot be read again (${error.reason}), so what it said before stays`);
      return undefined;
    }
  };
  const exportOf = async (file: NewFile) => {
    const readAsSha256 = readingDigest(file, reading);
    const knowing = { offers: reading, readAsSha256, known: await knownRecords(readAsSha256) };
    return read(
      file,
      async (records) =>
        (await readExport(file, records, knowing)) ??
        (await readExport(file, input.readRecords(file), { ...knowing, known: new Map() })),
    );
  };
  const present = await readPresentOffers(connection, source);
  if (mode === 'delta') {
    const exports = await readDeltas(files, exportOf);
    return { source, mode, present, exports, released: false };
  }
  const accepted = new Set<NewFile>();
  for (const file of files) if (await isAccepted(connection, file)) accepted.add(file);
  const loaded = await readLoadedExport(connection, source);
  const { newestFirst, outdated } = candidates(files, loaded, input.landed, accepted, input.wallClock);
  const exports: CatalogExport[] = [];
  const olderExports: NewFile[] = [];
  for (const file of [...newestFirst, ...outdated]) {
    if (exports.length === 0 && !outdated.includes(file)) {
      const catalog = await exportOf(file);
      if (catalog !== undefined) exports.push(catalog);
      continue;
    }
    // Those that cannot decide are read too: an unreadable file is reported however old it is.
    const isReadable = await read(file, async (records) => {
      for await (const _ of records);
      return true;
    });
    if (isReadable) olderExports.push(file);
  }
  const [decides] = exports;
  const newer = decides?.file.path ?? loaded?.path ?? '';
  for (const file of olderExports) ledger.unread(file, 'superseded', `older_export: ${newer} is newer`, readWith(file));
  const landedNow = olderExports.filter(({ before }) => before === undefined);
  if (landedNow.length > 0) warnings.push(olderExportsMessage(landedNow, newer));
  return { source, mode, present, exports, released: decides !== undefined && accepted.has(decides.file) };
}

/**
 * Reads a delta source's files. Those that are read again come first, in the order in which they were ingested. Of each
 * offer in them only the last record is kept: they may be many.
 */
async function readDeltas(
  files: readonly NewFile[],
  read: (file: NewFile) => Promise<CatalogExport | undefined>,
): Promise<CatalogExport[]> {
  const [again, landed] = [
    files.filter(({ before }) => before !== undefined),
    files.filter(({ before }) => before === undefined),
  ];
  const inOrder = [
    ...again.toSorted((a, b) => (a.before?.file_id ?? 0) - (b.before?.file_id ?? 0)),
    ...landed.toSorted(compareAge),
  ];
  const exports: CatalogExport[] = [];
  const later = new Set<string>();
  for (const file of inOrder.toReversed()) {
    const catalog = await read(file);
    if (catalog === undefined) continue;
    if (file.before !== undefined) {
      const { accepted, unchanged } = catalog;
      catalog.accepted = accepted.filter(({ offer }) => !later.has(offer.external_id));
      catalog.unchanged = new Set([...unchanged].filter((externalId) => !later.has(externalId)));
      catalog.overruled = accepted.length - catalog.accepted.length + unchanged.size - catalog.unchanged.size;
    }
    for (const { offer } of catalog.accepted) later.add(offer.external_id);
    for (const externalId of catalog.unchanged) later.add(externalId);
    exports.unshift(catalog);
  }
  return exports;
}

/** Moves rows whose id was taken to the rejects and writes every file that was read to the ledger. */
function recordPlanned(
  plan: CatalogPlan,
  held: readonly HeldExport[],
  sources: readonly SourceExports[],
  ledger: CatalogLedger,
  settings: DecidingSettings,
): void {
  const taken = new Set(plan.idTaken.map(({ accepted }) => accepted));
  for (const { catalog } of plan.idKept) catalog.warnings.add({ warning: 'id_kept', field: 'id' });
  for (const { source, mode, exports } of sources) {
    for (const catalog of exports) {
      if (mode === 'full' && catalog.incomplete) catalog.warnings.add({ warning: catalog.incomplete, field: null });
      const rejectedRows = catalog.accepted.flatMap((each) =>
        each.row && taken.has(each) ? [{ ...each.row, reason: 'id_taken' }] : [],
      );
      const hold = held.find((each) => each.catalog === catalog);
      ledger.read(
        {
          ...catalog,
          accepted: catalog.accepted.filter((row) => !taken.has(row)),
          rejected: catalog.rejected + rejectedRows.length,
          rejectedRows: [...catalog.rejectedRows, ...rejectedRows],
        },
        hold ? 'held' : 'loaded',
        hold ? `would_remove ${hold.removes} of ${hold.active}` : null,
        catalogReadingSettings(settings, { source, path: catalog.file.path }, catalog.currencies),
      );
    }
  }
}

/**
 * An operator's approval holds for the next reading of the file; an export that is fine replaces the older held ones.
 */
async function resolveHolds(
  connection: DuckDBConnection,
  held: readonly HeldExport[],
  sources: readonly SourceExports[],
  files: readonly NewFile[],
): Promise<void> {
  for (const file of files) await dropApproval(connection, file);
  for (const {
    source,
    mode,
    exports: [decides],
  } of sources) {
    const loaded = mode === 'full' && decides?.incomplete === null && !held.some(({ catalog }) => catalog === decides);
    if (loaded) await replaceHeldExports(connection, source, decides.file);
  }
}

function heldMessage({ catalog, removes, active }: HeldExport): string {
  return `${catalog.file.path} is held: it would remove ${removes} of ${active} active offers. Approve it with \`offerline offers accept <file_id>\`, by its id in \`offerline offers held\`, or land a newer export`;
}

function olderExportsMessage([first, ...others]: readonly NewFile[], newer: string): string {
  const more = others.length === 0 ? 'is' : `and ${others.length} more of its source are`;
  return `${first?.path} ${more} set aside: ${newer} is newer by its modification time. Land an export that should count under a new name`;
}

const incompleteReasons = {
  empty_export: 'is empty',
  truncated_export: 'breaks off in the middle of a row',
  unidentified_reject: 'has a rejected row without a readable external_id',
};

function incompleteMessages({ mode, exports }: SourceExports): string[] {
  if (mode === 'delta') return [];
  return exports.flatMap(({ file, incomplete }) =>
    incomplete ? [`${file.path} ${incompleteReasons[incomplete]}, so no offer was removed`] : [],
  );
}
