import type { ConversionKind } from '../../kit/vocabulary/values.ts';
import type { Route } from '../../pipeline/routes/routes-file.ts';
import { dayNumberOf } from '../logs/log-names.ts';

/** Enough for a day to outlast the moment in which a clock is far ahead. */
const daysKept = 8;

/** Counts of one UTC day. */
interface Day {
  /** Clicks by offer. */
  clicks: Map<number, number>;
  /** Credited conversions by offer, then click: however many milestones a click reaches, it counts once. */
  credits: Map<number, Map<string, Set<string>>>;
  /** Conversions that were undone, also before they were credited. */
  undone: Set<string>;
}

/** A conversion as it counts against a cap. */
export interface CountedConversion {
  offerId: number;
  clickId: string;
  conversionId: string;
  kind: ConversionKind;
}

/**
 * Clicks and conversions of each offer by UTC day, over all sites: exact, since one process counts, and rebuilt from
 * its own logs at a start.
 */
export class DailyCounts {
  /** The days that were used last, the latest at the end: a clock that is set back finds what was counted before. */
  readonly #days = new Map<number, Day>();

  /** Counts a click where the offer's caps have room for it, else returns the one that is reached. */
  reserve({ offer_id, daily_cap, daily_click_cap }: Route, now: number): 'daily_click_cap' | 'daily_cap' | undefined {
    const { clicks, credits } = this.#day(dayNumberOf(now));
    const counted = clicks.get(offer_id) ?? 0;
    if (daily_click_cap !== null && counted >= daily_click_cap) return 'daily_click_cap';
    if (daily_cap !== null && (credits.get(offer_id)?.size ?? 0) >= daily_cap) return 'daily_cap';
    clicks.set(offer_id, counted + 1);
    return undefined;
  }

  /** Takes back a click that was reserved at that moment and not recorded. */
  giveBack(offerId: number, reservedAt: number): void {
    this.addClicks(offerId, dayNumberOf(reservedAt), -1);
  }

  addClicks(offerId: number, dayNumber: number, clicks = 1): void {
    const day = this.#day(dayNumber);
    day.clicks.set(offerId, (day.clicks.get(offerId) ?? 0) + clicks);
  }

  /**
   * Counts a conversion by the day on which it was received. For the first credit of a click, returns how many clicks
   * of its offer have one that day.
   */
  addConversion({ offerId, clickId, conversionId, kind }: CountedConversion, dayNumber: number): number | undefined {
    // What is announced fills no cap.
    if (kind === 'pending') return undefined;
    const { credits, undone } = this.#day(dayNumber);
    let clicks = credits.get(offerId);
    if (clicks === undefined) credits.set(offerId, (clicks = new Map<string, Set<string>>()));
    const credited = clicks.get(clickId);
    if (kind !== 'credit') {
      undone.add(conversionId);
      credited?.delete(conversionId);
      if (credited?.size === 0) clicks.delete(clickId);
    } else if (!undone.has(conversionId)) {
      if (credited !== undefined) credited.add(conversionId);
      else return clicks.set(clickId, new Set([conversionId])).size;
    }
    return undefined;
  }

  #day(number: number): Day {
    const day = this.#days.get(number) ?? { clicks: new Map(), credits: new Map(), undone: new Set() };
    this.#days.delete(number);
    this.#days.set(number, day);
    const [unused = number] = this.#days.keys();
    if (this.#days.size > daysKept) this.#days.delete(unused);
    return day;
  }
}
