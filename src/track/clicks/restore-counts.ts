import type { DataDirectory } from '../../config/data-directory.ts';
import { dayNumberOf, dayText } from '../logs/log-names.ts';
import { readOwnRows } from '../logs/own-rows.ts';
import type { ClickIds } from './click-id.ts';
import type { CountedConversion, DailyCounts } from './daily-counts.ts';

/** A conversion of a click that came by a file, so that its id does not tell its offer. */
export interface ImportedConversion extends Omit<CountedConversion, 'offerId'> {
  dayNumber: number;
}

/**
 * Counts clicks and conversions of today again from the tracker's own logs, of which none may be a `.part`, and those
 * of tomorrow: there are some where the clock was set back over midnight. Gives the conversions of imported clicks,
 * whose offers have to be looked up. `now` in milliseconds since the epoch.
 */
export async function restoreCounts(
  data: DataDirectory,
  counts: DailyCounts,
  ids: ClickIds,
  now: number,
): Promise<ImportedConversion[]> {
  const today = dayNumberOf(now);
  const isCounted = (day: number) => day === today || day === today + 1;
  // A click just before midnight may have been written just after it, so into the next day's folder.
  await readOwnRows(data, 'clicks', dayText(today), (row) => {
    const click = ids.verify((read(row) as { click_id: string }).click_id);
    if (click === undefined) return;
    const dayNumber = dayNumberOf(click.mintedAt);
    if (isCounted(dayNumber)) counts.addClicks(click.offerId, dayNumber);
  });
  const imported: ImportedConversion[] = [];
  await readOwnRows(data, 'conversions', dayText(today), (row, day) => {
    const dayNumber = dayNumberOf(Date.parse(day));
    if (!isCounted(dayNumber)) return;
    const { conversion_id, click_id, kind } = read(row) as { conversion_id: string; click_id: string; kind: string };
    const conversion = { clickId: click_id, conversionId: conversion_id, isCredit: kind === 'credit' };
    const click = ids.verify(click_id);
    if (click === undefined) imported.push({ ...conversion, dayNumber });
    else counts.addConversion({ ...conversion, offerId: click.offerId }, dayNumber);
  });
  return imported;
}

/**
 * Counts those of imported clicks, too, beside the tracker's work: each click is looked up once, which takes
 * milliseconds. What was undone meanwhile is known by then. Rejects where clicks cannot be looked up.
 */
export async function countImported(
  imported: readonly ImportedConversion[],
  counts: DailyCounts,
  offerOf: (clickId: string) => Promise<number | undefined>,
  stop: AbortSignal,
): Promise<void> {
  for (const [clickId, conversions] of Map.groupBy(imported, (conversion) => conversion.clickId)) {
    if (stop.aborted) return;
    const offerId = await offerOf(clickId);
    if (offerId === undefined) continue;
    for (const conversion of conversions) counts.addConversion({ ...conversion, offerId }, conversion.dayNumber);
  }
}

/** We wrote it: what is no JSON any more was changed by somebody else, and counts for nothing. */
function read(row: string): object {
  try {
    return JSON.parse(row) as object;
  } catch {
    return { click_id: '' };
  }
}
