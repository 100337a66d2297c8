import type { DataDirectory } from '../../config/data-directory.ts';
import { dayNumberOf, dayText } from '../logs/log-names.ts';
import { readOwnRows } from '../logs/own-rows.ts';
import type { ClickIds } from './click-id.ts';
import type { CountedConversion, DailyCounts } from './daily-counts.ts';

/** Counts today's clicks and conversions again from the tracker's own logs, of which none may be a `.part`. */
export async function restoreCounts(
  data: DataDirectory,
  counts: DailyCounts,
  ids: ClickIds,
  now: number,
): Promise<void> {
  const today = dayNumberOf(now);
  // A click just before midnight may have been written just after it, so into the next day's folder.
  await readOwnRows(data, 'clicks', dayText(today), (row) => {
    const click = ids.verify((read(row) as { click_id: string }).click_id);
    if (click !== undefined && dayNumberOf(click.mintedAt) === today) counts.addClicks(click.offerId, today);
  });
  await readOwnRows(data, 'conversions', dayText(today), (row, day) => {
    const conversion = countedConversion(row, ids);
    if (conversion !== undefined && day === dayText(today)) counts.addConversion(conversion, today);
  });
}

/** Undefined for one of a click that is none of ours: its offer is not known here. */
function countedConversion(row: string, ids: ClickIds): CountedConversion | undefined {
  const { conversion_id, click_id, kind } = read(row) as { conversion_id: string; click_id: string; kind: string };
  const click = ids.verify(click_id);
  if (click === undefined) return undefined;
  return { offerId: click.offerId, clickId: click_id, conversionId: conversion_id, isCredit: kind === 'credit' };
}

/** We wrote it: what is no JSON any more was changed by somebody else, and counts for nothing. */
function read(row: string): object {
  try {
    return JSON.parse(row) as object;
  } catch {
    return { click_id: '' };
  }
}
