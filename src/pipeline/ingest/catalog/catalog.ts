import type { DuckDBConnection } from '@duckdb/node-api';
import type { Moment } from '../../../kit/time/moment.ts';
import { dropApproval, replaceHeldExports } from './catalog-holds.ts';
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
import { readIdOwners, readKnownOffers } from './catalog-state.ts';
import { writeDestinations, writeVersions } from './catalog-versions.ts';
import { writeSettledRecords } from './offer-records.ts';
import { SourceReader, type CatalogReading } from './source-reader.ts';
import type { NewFile } from '../ledger/read-again.ts';
import type { QuarantinedFile } from '../ledger/warn-of-quarantine.ts';
import { catalogReadingSettings, type DecidingSettings } from '../ledger/reading-settings.ts';

export interface CatalogSyncInput extends CatalogReading {
  /** Catalog files of any source that are new or read again; as they were first seen. */
  files: readonly NewFile[];
  runId: number;
  asOf: Moment;
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
  quarantined: QuarantinedFile[];
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
  const readers: SourceReader[] = [];
  for (const [source, files] of bySource(input.files)) {
    const reader = new SourceReader(connection, source, input, ledger);
    sources.push(await reader.read(files));
    readers.push(reader);
  }

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
    quarantined: readers.flatMap(({ quarantined }) => quarantined),
    warnings: [
      ...readers.flatMap(({ warnings }) => warnings),
      ...held.map(heldMessage),
      ...sources.flatMap(incompleteMessages),
    ],
  };
}

async function knownOffers(connection: DuckDBConnection, applied: readonly AppliedExports[]): Promise<KnownOffer[]> {
  // By source: no call takes as many arguments as a source may have offers.
  const known: KnownOffer[][] = [];
  for (const each of applied) known.push(await readKnownOffers(connection, each.source.source, plannedOffers(each)));
  return known.flat();
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

/** Moves rows whose id was taken to the rejects and writes every file that was read to the ledger. */
function recordPlanned(
  plan: CatalogPlan,
  held: readonly HeldExport[],
  sources: readonly SourceExports[],
  ledger: CatalogLedger,
  settings: DecidingSettings,
): void {
  const taken = new Set(plan.idTaken);
  for (const catalog of plan.idKept) catalog.warnings.add({ warning: 'id_kept', field: 'id' });
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
