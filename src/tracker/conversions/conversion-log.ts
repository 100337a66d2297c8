import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { parseMoney } from '../../kit/text/decimal-text.ts';
import { isJsonObject, JsonNumber, parseJson } from '../../kit/text/json-text.ts';
import { conversionKinds, type ConversionKind } from '../../kit/vocabulary/values.ts';
import { dayNumberOf, dayText } from '../logs/log-names.ts';
import { readOwnRows } from '../logs/own-rows.ts';
import type { RowSink } from '../logs/row-log.ts';
import {
  daysRemembered,
  RecordedConversions,
  type ConversionContent,
  type Comparison,
} from './recorded-conversions.ts';
import { conversionLine, type ConversionRecord } from './report/conversion-record.ts';

export type RecordOutcome = 'recorded' | 'duplicate' | 'contradiction';

/** Records each conversion once: a copy is answered without a second row. */
export class ConversionLog {
  readonly #sink: RowSink;
  readonly #recorded: RecordedConversions;
  /** Rows on their way to the disk, by id: a copy waits for the first one. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(sink: RowSink, recorded: RecordedConversions) {
    this.#sink = sink;
    this.#recorded = recorded;
  }

  /** Reads the tracker's own logs. Called when none of them is being written. */
  static async open(data: DataDirectory, sink: RowSink, now: number): Promise<ConversionLog> {
    const recorded = new RecordedConversions();
    await readOwnRows(data, 'conversions', dayText(dayNumberOf(now) - daysRemembered), (line, day) => {
      const content = contentOf(line);
      if (content !== undefined) recorded.add(content, dayNumberOf(Date.parse(day)));
    });
    return new ConversionLog(sink, recorded);
  }

  isCredited(conversionId: string, now: number): boolean {
    return this.#recorded.has(conversionId, 'credit', dayNumberOf(now));
  }

  /** Returns true for a conversion that was rejected or charged back. */
  isUndone(conversionId: string, now: number): boolean {
    const day = dayNumberOf(now);
    return this.#recorded.has(conversionId, 'reject', day) || this.#recorded.has(conversionId, 'chargeback', day);
  }

  /** Compares a row with those recorded before, those on their way to the disk left aside. */
  compare(row: ConversionRecord, now: number): Comparison {
    const { payouts = [row.payout] } = row;
    const comparisons = payouts.map((payout) => this.#recorded.compare({ ...row, payout }, dayNumberOf(now)));
    return comparisons.find((each) => each !== 'contradiction') ?? 'contradiction';
  }

  /** Rejects where it could not be recorded. `now` in milliseconds since the epoch. */
  async record(row: ConversionRecord, now: number): Promise<RecordOutcome> {
    const today = dayNumberOf(now);
    // All kinds of one conversion, since they have to be of one click. Where the first fails, so do those who wait.
    for (let first; (first = this.#underWay.get(row.conversionId)) !== undefined;) await first;
    const comparison = this.compare(row, now);
    if (comparison !== 'new') return comparison;
    const stored = this.#sink.append(conversionLine(row)).then(() => this.#recorded.add(row, today));
    this.#underWay.set(row.conversionId, stored);
    try {
      await stored;
      return 'recorded';
    } finally {
      this.#underWay.delete(row.conversionId);
    }
  }
}

/** Reads a line of a log; undefined where it is none, which ingest rejects. */
function contentOf(line: string): ConversionContent | undefined {
  const json = parseJson(line);
  if (!isJsonObject(json)) return undefined;
  const { conversion_id: conversionId, click_id: clickId, kind, event_id: eventId, payout } = json;
  if (typeof conversionId !== 'string' || typeof clickId !== 'string' || !isKind(kind)) return undefined;
  return {
    conversionId,
    clickId,
    kind,
    eventId: typeof eventId === 'string' ? eventId : undefined,
    payout: payout instanceof JsonNumber ? parseMoney(payout.text) : undefined,
  };
}

function isKind(text: unknown): text is ConversionKind {
  return conversionKinds.some((kind) => kind === text);
}
