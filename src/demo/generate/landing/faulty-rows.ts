import type { GeneratedClick, GeneratedConversion } from '../network/canonical-records.ts';

/** A row for a log: a record, or the text of a line that is none. */
export type LogRow = { record: object } | { line: string };

/**
 * Clicks that must be rejected, one per cause. Each is made of a good click and takes another id, so that it repeats
 * none.
 */
export const faultyClicks: readonly ((click: GeneratedClick) => LogRow)[] = [
  (click) => ({ record: { ...renamed(click), clicked_at: click.clicked_at.slice(0, -1) } }),
  (click) => ({ line: cut(renamed(click)) }),
  (click) => ({ record: { ...click, click_id: `${click.click_id}-é` } }),
  (click) => ({ record: { ...renamed(click), site_key: undefined } }),
  (click) => ({ record: { ...renamed(click), source: undefined, external_id: undefined, offer_id: 0 } }),
  // A device whose clock is far ahead.
  (click) => ({ record: { ...renamed(click), clicked_at: `2999${click.clicked_at.slice(4)}` } }),
];

/** Conversions that must be rejected, one per cause. */
export const faultyConversions: readonly ((conversion: GeneratedConversion) => LogRow)[] = [
  (conversion) => ({ record: { ...other(conversion), payout: '1,5' } }),
  (conversion) => ({ line: cut(other(conversion)) }),
  (conversion) => ({ record: { ...other(conversion), kind: 'refund' } }),
  (conversion) => ({ record: { ...other(conversion), click_id: undefined } }),
  (conversion) => ({ record: { ...other(conversion), occurred_at: conversion.occurred_at.slice(0, 10) } }),
];

/**
 * Clicks that are taken although something about them is odd: a value dropped with a warning, or an offer or site not
 * known yet.
 */
export const oddClicks: readonly ((click: GeneratedClick) => object)[] = [
  (click) => ({ ...click, device: 'fridge' }),
  (click) => ({ ...click, country: 'ZZ' }),
  (click) => ({ ...click, edge_version: '2.4' }),
  (click) => ({ ...click, offer_id: undefined, source: 'clickfield', external_id: 'cl-not-listed' }),
  (click) => ({ ...click, site_key: 'not-signed-up' }),
];

/** The same click with other values, as by a server that filled in the sub id later. */
export function conflictingClick(click: GeneratedClick): GeneratedClick {
  return { ...click, sub1: 'corrected' };
}

function renamed(click: GeneratedClick): GeneratedClick {
  return { ...click, click_id: `${click.click_id}-x` };
}

function other(conversion: GeneratedConversion): GeneratedConversion {
  return { ...conversion, conversion_id: `${conversion.conversion_id}-x` };
}

function cut(record: object): string {
  return JSON.stringify(record).slice(0, 58);
}
