import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { GeneratedClick } from '../network/canonical-records.ts';
import { conflictingClick, faultyClicks, oddClicks, type LogRow } from './faulty-rows.ts';
import { LogCount, GeneratedLog, type LogFormat } from './generated-log.ts';
import type { ParquetColumns, ParquetWriter } from './parquet-writer.ts';
import { scramble } from '../network/random.ts';
import { Spread } from '../network/spread.ts';
import { dateOfDay, type Traffic, type SiteVisit } from '../network/traffic.ts';

export interface LogStyle {
  /** With duplicates, rows to be rejected and a broken file. */
  messy: boolean;
  /** `ndjson`: no other formats, for comparisons with a bare read of the same files. */
  formats: 'mixed' | 'ndjson';
}

const columns: ParquetColumns = {
  click_id: 'VARCHAR',
  offer_id: 'INTEGER',
  source: 'VARCHAR',
  external_id: 'VARCHAR',
  site_key: 'VARCHAR',
  user_id: 'VARCHAR',
  clicked_at: 'TIMESTAMPTZ',
  country: 'VARCHAR',
  device: 'VARCHAR',
  ip: 'VARCHAR',
  user_agent: 'VARCHAR',
  sub1: 'VARCHAR',
};

/** A busy tracker rolls its log over. */
const clicksPerPart = 250_000;
/** Small sites of the tracker that log in other formats: never the bulk, however much traffic there is. */
const otherEdges: { name: string; format: LogFormat }[] = [
  { name: 'edge-gru', format: 'csv' },
  { name: 'edge-iad', format: 'ndjson.gz' },
  { name: 'edge-sin', format: 'parquet' },
];
const otherEdgeShare = 0.06;
const otherEdgeClicksPerDay = 2500;
const linesOfBrokenFile = 400;

/**
 * The tracker's click logs: per day a main log in parts and a few small ones. Late clicks and repeated lines come with
 * the main log of a later day; `take` gathers, `flush` writes, `finish` closes.
 */
export class ClickLogs {
  readonly count = new LogCount();
  readonly #folder: string;
  readonly #traffic: Traffic;
  readonly #style: LogStyle;
  readonly #edgeShare: number;
  readonly #late: Spread;
  readonly #repeats: Spread;
  readonly #conflicts: Spread;
  readonly #faults: Spread;
  readonly #oddities: Spread;
  #owed = { conflicts: 0, faults: 0, oddities: 0 };
  #faultsWritten = 0;
  #odditiesWritten = 0;
  #day = -1;
  #carried: { click: GeneratedClick; fate: 'accepted' | 'duplicates' }[] = [];
  #main: { file: GeneratedLog; clicks: number; part: number } | undefined;
  #others = new Map<string, GeneratedLog>();
  #finished: GeneratedLog[] = [];
  #firstLines: string[] = [];

  constructor(folder: string, traffic: Traffic, style: LogStyle) {
    this.#folder = folder;
    this.#traffic = traffic;
    this.#style = style;
    const { clicks, days } = traffic;
    this.#edgeShare =
      style.formats === 'ndjson' ? 0 : Math.min(otherEdgeShare, (otherEdgeClicksPerDay * days) / clicks);
    const messy = style.messy ? 1 : 0;
    this.#late = new Spread(days < 2 ? 0 : 3 + Math.min(Math.floor(clicks / 250), 2000 * days), clicks);
    this.#repeats = new Spread(messy * (3 + Math.floor(clicks / 300)), clicks);
    this.#conflicts = new Spread(messy * (1 + Math.floor(clicks / 20_000)), clicks);
    this.#faults = new Spread(messy * (faultyClicks.length + Math.floor(clicks / 5000)), clicks);
    this.#oddities = new Spread(messy * (oddClicks.length + Math.floor(clicks / 5000)), clicks);
  }

  take(visit: SiteVisit): void {
    const { index, day, click } = visit;
    if (day !== this.#day) this.#turnTo(day);
    this.#owed.conflicts += this.#conflicts.at(index);
    this.#owed.faults += this.#faults.at(index);
    this.#owed.oddities += this.#oddities.at(index);
    const edge = this.#otherEdge(index);
    const isLastDay = day === this.#traffic.days - 1;
    if (this.#late.at(index) > 0 && !isLastDay) this.#carried.push({ click, fate: 'accepted' });
    else if (edge) this.#write(edge, { record: click }, 'accepted');
    else this.#takeIntoMain(click);

    for (let repeats = this.#repeats.at(index); repeats > 0; repeats--) {
      if (isLastDay) this.#write(this.#mainLog(), { record: click }, 'duplicates');
      else this.#carried.push({ click, fate: 'duplicates' });
    }
  }

  /** Conflicts, faults and oddities need the main log: it is read in the order of its lines and takes any line. */
  #takeIntoMain(click: GeneratedClick): void {
    const main = this.#mainLog();
    const odd = this.#owed.oddities > 0;
    if (odd) this.#owed.oddities--;
    const make = odd ? oddClicks[this.#odditiesWritten++ % oddClicks.length] : undefined;
    this.#write(main, { record: make ? make(click) : click }, 'accepted');
    if (this.#style.messy && this.#firstLines.length < linesOfBrokenFile) this.#firstLines.push(JSON.stringify(click));
    for (; this.#owed.faults > 0; this.#owed.faults--) {
      const makeFaulty = faultyClicks[this.#faultsWritten++ % faultyClicks.length] as (typeof faultyClicks)[number];
      this.#write(main, makeFaulty(click), 'rejected');
    }
    for (; this.#owed.conflicts > 0; this.#owed.conflicts--)
      this.#write(main, { record: conflictingClick(click) }, 'duplicates');
  }

  /** Writes what was gathered. Call it every few thousand clicks: memory holds those in between. */
  async flush(parquet: ParquetWriter): Promise<void> {
    for (const file of this.#finished.splice(0)) await file.close(parquet);
    await this.#main?.file.flush();
    for (const file of this.#others.values()) await file.flush();
  }

  async finish(parquet: ParquetWriter): Promise<void> {
    this.#writeCarried();
    this.#finishDay();
    await this.flush(parquet);
    if (this.#style.messy) await this.#writeBrokenFile();
  }

  #turnTo(day: number): void {
    this.#finishDay();
    this.#day = day;
    this.#writeCarried();
  }

  #writeCarried(): void {
    for (const { click, fate } of this.#carried.splice(0)) this.#write(this.#mainLog(), { record: click }, fate);
  }

  #finishDay(): void {
    if (this.#main) this.#finished.push(this.#main.file);
    this.#finished.push(...this.#others.values());
    this.#main = undefined;
    this.#others.clear();
  }

  #write(file: GeneratedLog, row: LogRow, fate: 'accepted' | 'duplicates' | 'rejected'): void {
    if ('line' in row) file.addLine(row.line);
    else file.add(row.record);
    this.count.count(fate);
  }

  #mainLog(): GeneratedLog {
    const part = this.#main ? this.#main.part + (this.#main.clicks < clicksPerPart ? 0 : 1) : 0;
    if (this.#main && this.#main.part !== part) this.#finished.push(this.#main.file);
    if (this.#main?.part !== part) {
      this.#main = { file: this.#open(`edge-fra-${String(part).padStart(4, '0')}`, 'ndjson'), clicks: 0, part };
    }
    this.#main.clicks++;
    return this.#main.file;
  }

  #otherEdge(index: number): GeneratedLog | undefined {
    const share = scramble(index ^ 0x51ed270b) / 4294967296;
    const edge = this.#edgeShare > 0 ? otherEdges[Math.floor(share / this.#edgeShare)] : undefined;
    if (!edge) return undefined;
    const file = this.#others.get(edge.name) ?? this.#open(edge.name, edge.format);
    this.#others.set(edge.name, file);
    return file;
  }

  #open(name: string, format: LogFormat): GeneratedLog {
    this.count.files++;
    return new GeneratedLog(join(this.#folder, dateOfDay(this.#traffic, this.#day), name), format, columns);
  }

  /** A resent log whose transfer broke off. */
  async #writeBrokenFile(): Promise<void> {
    const packed = gzipSync(`${this.#firstLines.join('\n')}\n`);
    const folder = join(this.#folder, dateOfDay(this.#traffic, 0));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'edge-fra-resent.ndjson.gz'), packed.subarray(0, Math.floor(packed.length * 0.6)));
    this.count.files++;
    this.count.broken++;
  }
}
