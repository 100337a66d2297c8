import { join } from 'node:path';
import type { GeneratedConversion } from '../network/canonical-records.ts';
import type { Source } from '../network/catalog.ts';
import type { LogStyle } from './click-logs.ts';
import { conversionSource, type TimedConversion } from '../network/conversion-events.ts';
import { faultyConversions, type LogRow } from './faulty-rows.ts';
import { LogCount, GeneratedLog, type LogFormat } from './generated-log.ts';
import { partnerZone } from '../network/network.ts';
import type { ParquetColumns, ParquetWriter } from './parquet-writer.ts';
import { dateOfDay, firstMidnight, type Traffic, type SiteVisit } from '../network/traffic.ts';

const columns: ParquetColumns = {
  conversion_id: 'VARCHAR',
  click_id: 'VARCHAR',
  kind: 'VARCHAR',
  occurred_at: 'TIMESTAMPTZ',
  event_id: 'VARCHAR',
  payout: 'DECIMAL(15, 6)',
  reason: 'VARCHAR',
};

/** Logs of conversions by reporter: two networks report through our tracker, the others write logs of their own. */
interface Reporter {
  name: string;
  format: LogFormat;
  /** Writes a moment, given in epoch milliseconds. */
  time: (at: number) => string;
}

const hourMs = 60 * 60 * 1000;
const utc = (at: number) => new Date(at).toISOString();
const tracker: Reporter = { name: 'tracker', format: 'ndjson', time: utc };
const reporters: Record<Source, Reporter> = {
  northstar: tracker,
  lumen: { ...tracker, time: (at) => `${utc(at + 2 * hourMs).slice(0, -1)}+02:00` },
  arcadia: { name: 'arcadia', format: 'parquet', time: utc },
  pollhive: { name: 'pollhive', format: 'ndjson.gz', time: utc },
  // Local time without an offset: `offerline.json` names the zone.
  clickfield: {
    name: 'clickfield',
    format: 'csv',
    time: (at) =>
      utc(at + partnerZone.offsetMs)
        .slice(0, -1)
        .replace('T', ' '),
  },
};

/** Number of events of which one arrives with the next day's file, and of which one is repeated there. */
const lateEvery = 40;
const repeatedEvery = 50;
/** Faults come early until each kind was there, then seldom. */
const firstFaultsEvery = 15;
const faultEvery = 1000;
const eventsInMemory = 50_000;
const dayMs = 24 * hourMs;

interface PendingRow {
  at: number;
  row: LogRow;
}

/** Conversion logs by the day on which their events occurred. `take` gathers, `flush` writes, `finish` closes. */
export class ConversionLogs {
  readonly count = new LogCount();
  readonly #folder: string;
  readonly #traffic: Traffic;
  readonly #style: LogStyle;
  readonly #eventsOf: (visit: SiteVisit) => TimedConversion[];
  readonly #files = new Map<string, { file: GeneratedLog; pending: PendingRow[] }>();
  #pendingRows = 0;
  #events = 0;
  #faultsWritten = 0;

  constructor(folder: string, traffic: Traffic, style: LogStyle) {
    this.#folder = folder;
    this.#traffic = traffic;
    this.#style = style;
    this.#eventsOf = conversionSource(traffic);
  }

  take(visit: SiteVisit): void {
    for (const event of this.#eventsOf(visit)) this.#takeEvent(event, visit.offer.record.source as Source);
  }

  #takeEvent({ at, conversion }: TimedConversion, source: Source): void {
    const reporter = this.#style.formats === 'ndjson' ? tracker : reporters[source];
    const nth = this.#events++;
    const lastDay = this.#traffic.days - 1;
    const occurred = Math.min(Math.floor((at - firstMidnight(this.#traffic)) / dayMs), lastDay);
    const nextDay = Math.min(occurred + 1, lastDay);
    const arrived = nth % lateEvery === 3 ? nextDay : occurred;
    const record = { ...conversion, occurred_at: reporter.time(at) };
    this.#write(reporter, arrived, { at, row: { record } }, 'accepted');
    if (!this.#style.messy) return;
    if (nth % repeatedEvery === 7) this.#write(reporter, nextDay, { at, row: { record } }, 'duplicates');
    if (this.#isTimeForAFault(nth)) {
      const make = faultyConversions[this.#faultsWritten++ % faultyConversions.length] as (
        of: GeneratedConversion,
      ) => LogRow;
      this.#write(tracker, occurred, { at, row: make(conversion) }, 'rejected');
    }
  }

  #isTimeForAFault(nth: number): boolean {
    return nth % (this.#faultsWritten < faultyConversions.length ? firstFaultsEvery : faultEvery) === 11;
  }

  #write(reporter: Reporter, day: number, row: PendingRow, fate: 'accepted' | 'duplicates' | 'rejected'): void {
    const path = join(this.#folder, dateOfDay(this.#traffic, day), reporter.name);
    let log = this.#files.get(path);
    if (!log) {
      log = { file: new GeneratedLog(path, reporter.format, columns), pending: [] };
      this.#files.set(path, log);
      this.count.files++;
    }
    log.pending.push(row);
    this.#pendingRows++;
    this.count.count(fate);
  }

  /** Writes what was gathered, in order of time, once it is much. */
  async flush(): Promise<void> {
    if (this.#pendingRows >= eventsInMemory) await this.#flush();
  }

  async finish(parquet: ParquetWriter): Promise<void> {
    await this.#flush();
    for (const { file } of this.#files.values()) await file.close(parquet);
  }

  async #flush(): Promise<void> {
    for (const { file, pending } of this.#files.values()) {
      for (const { row } of pending.splice(0).toSorted((a, b) => a.at - b.at)) {
        if ('line' in row) file.addLine(row.line);
        else file.add(row.record);
      }
      await file.flush();
    }
    this.#pendingRows = 0;
  }
}
