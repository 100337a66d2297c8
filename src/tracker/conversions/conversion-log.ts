import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { parseMoney } from '../../kit/text/decimal-text.ts';
import { isJsonObject, JsonNumber, parseJson } from '../../kit/text/json-text.ts';
import { conversionKinds, type ConversionKind } from '../../kit/vocabulary/values.ts';
import { dayNumberOf, dayText } from '../logs/log-names.ts';
import { readOwnRows } from '../logs/own-rows.ts';
import type { RowSink } from '../logs/row-log.ts';
import { daysRemembered, RecordedConversions, type ConversionContent, type Standing } from './recorded-conversions.ts';
import { conversionLine, type ConversionRow } from './report/conversion-row.ts';

export type RecordOutcome = 'recorded' | 'duplicate' | 'contradiction';

/** Records each conversion once: what it was told before it answers without a second row. */
export class ConversionLog {
  readonly #sink: RowSink;
  readonly #recorded: RecordedConversions;
  /** Rows on their way to the disk, by id and kind: who says the same waits for what comes of the first. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(sink: RowSink, recorded: RecordedConversions) {
    this.#sink = sink;
    this.#recorded = recorded;
  }

  /** Remembers what the tracker's own logs say. Called when none of them is being written. */
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

  /** Whether a conversion was rejected or charged back. */
  isUndone(conversionId: string, now: number): boolean {
    const day = dayNumberOf(now);
    return this.#recorded.has(conversionId, 'reject', day) || this.#recorded.has(conversionId, 'chargeback', day);
  }

  /** How a row stands to those recorded before, those on their way to the disk left aside. */
  standing(row: ConversionRow, now: number): Standing {
    const { payouts = [row.payout] } = row;
    const standings = payouts.map((payout) => this.#recorded.standingOf({ ...row, payout }, dayNumberOf(now)));
    return standings.find((each) => each !== 'contradiction') ?? 'contradiction';
  }

  /** Rejects where it could not be recorded. `now` in milliseconds since the epoch. */
  async record(row: ConversionRow, now: number): Promise<RecordOutcome> {
    const today = dayNumberOf(now);
    // All kinds of one conversion, since they have to be of one click. Where the first fails, so do those who wait.
    for (let first; (first = this.#underWay.get(row.conversionId)) !== undefined;) await first;
    const standing = this.standing(row, now);
    if (standing !== 'new') return standing;
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

/** What a line of our own says; undefined where it is none, which ingest will tell. */
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
