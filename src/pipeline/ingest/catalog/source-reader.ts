import type { DuckDBConnection } from '@duckdb/node-api';
import type { OfferReading } from '../../landing/catalog/offer-record.ts';
import { namingFile, QuarantineError, type LandingRecord } from '../../landing/landing-file.ts';
import type { NewFile } from '../ledger/read-again.ts';
import type { QuarantinedFile } from '../ledger/warn-of-quarantine.ts';
import { catalogReadingSettings, sourceSettings, type DecidingSettings } from '../ledger/reading-settings.ts';
import { readExport, type CatalogExport } from './catalog-export.ts';
import { candidates, compareAge, type LandedExport } from './catalog-files.ts';
import { isAccepted } from './catalog-holds.ts';
import type { CatalogLedger } from './catalog-ledger.ts';
import type { SourceExports } from './catalog-plan.ts';
import { readLoadedExport, readPresentOffers } from './catalog-state.ts';
import { readKnownRecords, type KnownRecords } from './offer-records.ts';
import { readingDigest } from './reading-digest.ts';

/** What every source's files are read with. */
export interface CatalogReading {
  /** Catalog files that are in the landing folder now, known ones too. */
  landed: readonly LandedExport[];
  /**
   * A file's records, some at a time. Throws `QuarantineError`, at once or later, for one that cannot be read whole.
   */
  readRecords: (file: NewFile) => AsyncIterable<LandingRecord[]>;
  settings: DecidingSettings;
  wallClock: Date;
}

/** Reads the new files of one source. Those that do not count go to the ledger at once. */
export class SourceReader {
  /** Sentences for the operator. */
  readonly warnings: string[] = [];
  readonly quarantined: QuarantinedFile[] = [];
  readonly #connection: DuckDBConnection;
  readonly #source: string;
  readonly #reading: CatalogReading;
  readonly #ledger: CatalogLedger;
  readonly #known = new Map<string, KnownRecords>();

  constructor(connection: DuckDBConnection, source: string, reading: CatalogReading, ledger: CatalogLedger) {
    this.#connection = connection;
    this.#source = source;
    this.#reading = reading;
    this.#ledger = ledger;
  }

  async read(files: readonly NewFile[]): Promise<SourceExports> {
    const { mode } = sourceSettings(this.#reading.settings, this.#source);
    const present = await readPresentOffers(this.#connection, this.#source);
    const counting =
      mode === 'delta' ? { exports: await this.#readDeltas(files), released: false } : await this.#readNewest(files);
    return { source: this.#source, mode, present, ...counting };
  }

  /**
   * Of a full source the newest file that can be read decides. Those that cannot decide are read too: an unreadable
   * file is reported however old it is.
   */
  async #readNewest(files: readonly NewFile[]): Promise<Pick<SourceExports, 'exports' | 'released'>> {
    const accepted = new Set<NewFile>();
    for (const file of files) if (await isAccepted(this.#connection, file)) accepted.add(file);
    const loaded = await readLoadedExport(this.#connection, this.#source);
    const { landed, wallClock } = this.#reading;
    const { newestFirst, outdated } = candidates(files, loaded, landed, accepted, wallClock);
    let decides: CatalogExport | undefined;
    const older: NewFile[] = [];
    for (const file of newestFirst) {
      if (decides === undefined) decides = await this.#readExport(file);
      else if (await this.#isReadable(file)) older.push(file);
    }
    for (const file of outdated) if (await this.#isReadable(file)) older.push(file);
    this.#setAside(older, decides?.file.path ?? loaded?.path ?? '');
    if (decides === undefined) return { exports: [], released: false };
    return { exports: [decides], released: accepted.has(decides.file) };
  }

  /**
   * Of a delta source every file counts. Those that are read again come first, in the order in which they were
   * ingested. Of each offer in them only the last record is kept: they may be many.
   */
  async #readDeltas(files: readonly NewFile[]): Promise<CatalogExport[]> {
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
      const catalog = await this.#readExport(file);
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

  #setAside(files: readonly NewFile[], newer: string): void {
    for (const file of files)
      this.#ledger.unread(file, 'superseded', `older_export: ${newer} is newer`, this.#readWith(file));
    const landedNow = files.filter(({ before }) => before === undefined);
    if (landedNow.length > 0) this.warnings.push(olderExportsMessage(landedNow, newer));
  }

  #readExport(file: NewFile): Promise<CatalogExport | undefined> {
    return this.#orQuarantine(file, async () => {
      const { settings, wallClock, readRecords } = this.#reading;
      const { time_zone: timeZone } = sourceSettings(settings, this.#source);
      const offers: Omit<OfferReading, 'textCells' | 'onCurrency'> = {
        currencyRates: settings.rates,
        timeZone,
        wallClock,
      };
      const readAsSha256 = readingDigest(file, offers);
      const known = await this.#knownRecords(readAsSha256);
      return readExport(file, () => readRecords(file), { offers, readAsSha256, known });
    });
  }

  async #knownRecords(readAsSha256: string): Promise<KnownRecords> {
    const records =
      this.#known.get(readAsSha256) ??
      (await readKnownRecords(this.#connection, this.#source, readAsSha256, this.#reading.wallClock));
    this.#known.set(readAsSha256, records);
    return records;
  }

  async #isReadable(file: NewFile): Promise<boolean> {
    const isRead = await this.#orQuarantine(file, async () => {
      for await (const _ of this.#reading.readRecords(file));
      return true;
    });
    return isRead ?? false;
  }

  /** Returns undefined for a file that cannot be read whole, and notes it. */
  async #orQuarantine<Result>(file: NewFile, read: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof QuarantineError)) throw namingFile(error, file);
      const { reason, message: detail } = error;
      const why = `${reason}: ${detail}`;
      this.#ledger.unread(file, 'quarantined', why, this.#readWith(file));
      if (file.before?.status === 'loaded')
        this.warnings.push(`${file.path} cannot be read again (${why}), so what it said before stays`);
      else this.quarantined.push({ file: file.path, reason, detail });
      return undefined;
    }
  }

  #readWith({ path }: NewFile): ReturnType<typeof catalogReadingSettings> {
    return catalogReadingSettings(this.#reading.settings, { source: this.#source, path });
  }
}

function olderExportsMessage([first, ...others]: readonly NewFile[], newer: string): string {
  const more = others.length === 0 ? 'is' : `and ${others.length} more of its source are`;
  return `${first?.path} ${more} set aside: ${newer} is newer by its modification time. Land an export that should count under a new name`;
}
