import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { ConversionKind } from '../../kit/vocabulary/values.ts';
import { dayNumberOf, dayText } from '../logs/log-names.ts';
import { readOwnRows } from '../logs/own-rows.ts';
import type { ClickIds } from './click-id.ts';
import type { CountedConversion, DailyCounts } from './daily-counts.ts';

/** A conversion of a click that landed as a file, whose id does not contain its offer. */
export interface ImportedConversion extends Omit<CountedConversion, 'offerId'> {
  dayNumber: number;
}

/** Bounds how far a clock may be set back: soon after midnight the day before is counted, too. Milliseconds. */
const maxSetBack = 3_600_000;

/** The first day, in days since the epoch, whose logs a tracker counts when it starts now. */
export function firstCountedDay(now: number): number {
  return dayNumberOf(now - maxSetBack);
}

/**
 * Counts clicks and conversions of today again from the tracker's own logs, of which none may be a `.part`, and those
 * of the days beside it that a clock which is set back may lead to, or has come from. Gives the conversions of imported
 * clicks by their clicks, whose offers have to be looked up. `now` in milliseconds since the epoch.
 */
export async function restoreCounts(
  data: DataDirectory,
  counts: DailyCounts,
  ids: ClickIds,
  now: number,
): Promise<Map<string, ImportedConversion[]>> {
  const first = firstCountedDay(now);
  const isCounted = (day: number) => day >= first && day <= dayNumberOf(now) + 1;
  // A click just before midnight may have been written just after it, so into the next day's folder.
  await readOwnRows(data, 'clicks', dayText(first), (row) => {
    const click = ids.verify((read(row) as { click_id: string }).click_id);
    if (click === undefined) return;
    const dayNumber = dayNumberOf(click.mintedAt);
    if (isCounted(dayNumber)) counts.addClicks(click.offerId, dayNumber);
  });
  const imported: ImportedConversion[] = [];
  await readOwnRows(data, 'conversions', dayText(first), (row, day) => {
    const dayNumber = dayNumberOf(Date.parse(day));
    if (!isCounted(dayNumber)) return;
    const { conversion_id, click_id, kind } = read(row) as RecordedRow;
    const conversion = { clickId: click_id, conversionId: conversion_id, kind };
    const click = ids.verify(click_id);
    if (click === undefined) imported.push({ ...conversion, dayNumber });
    else counts.addConversion({ ...conversion, offerId: click.offerId }, dayNumber);
  });
  return Map.groupBy(imported, ({ clickId }) => clickId);
}

/**
 * Counts those of imported clicks, too, beside the tracker's work: each click is looked up once, which takes
 * milliseconds, and is taken off those that wait. What was undone meanwhile is known by then. Rejects where clicks
 * cannot be looked up now: the others wait on.
 */
export async function countImported(
  waiting: Map<string, ImportedConversion[]>,
  counts: DailyCounts,
  offerOf: (clickId: string) => Promise<number | undefined>,
  stop: AbortSignal,
): Promise<void> {
  for (const [clickId, conversions] of waiting) {
    if (stop.aborted) return;
    const offerId = await offerOf(clickId);
    waiting.delete(clickId);
    if (offerId === undefined) continue;
    for (const conversion of conversions) counts.addConversion({ ...conversion, offerId }, conversion.dayNumber);
  }
}

/** A row of our own log of conversions, as far as caps need it. */
interface RecordedRow {
  conversion_id: string;
  click_id: string;
  kind: ConversionKind;
}

/** We wrote it: what is no JSON any more was changed by somebody else, and counts for nothing. */
function read(row: string): object {
  try {
    return JSON.parse(row) as object;
  } catch {
    return { click_id: '' };
  }
}
