import type { ConversionEvent, Landing, Millionths } from './facts.ts';
import { Reference } from './figures.ts';

export interface Told {
  conversionId: string;
  kind: ConversionEvent['kind'];
  offerId: number;
  siteKey: string;
  userId: string;
  /** Gross; what a site's reward is made of. */
  amount: Millionths;
}

/**
 * Contract section 8, read plainly: goes through the runs one after the other, and through all events in each, and
 * tells what can be told by then of what was not told before.
 */
export function toldBy(landings: readonly Landing[], hasAddress: (siteKey: string) => boolean): Told[] {
  const told = new Map<string, Told>();
  for (const [run, { asOf }] of landings.entries()) {
    const known = landings.slice(0, run + 1);
    const happened = known.flatMap(({ events }) => events).filter(({ occurredAt }) => occurredAt <= asOf);
    const clicks = known.flatMap((landing) => landing.clicks);
    // Credits first, since the others carry what they carried.
    for (const event of happened.toSorted((a, b) => Number(b.kind === 'credit') - Number(a.kind === 'credit'))) {
      const key = `${event.conversionId} ${event.kind}`;
      if (told.has(key)) continue;
      const leading =
        happened.find(({ conversionId, kind }) => conversionId === event.conversionId && kind === 'credit') ?? event;
      const alone = known.map((landing, index) => ({ ...landing, events: index === run ? [leading] : [] }));
      const [conversion] = new Reference(alone).conversions();
      const click = clicks.find(({ clickId }) => clickId === leading.clickId);
      if (
        click === undefined ||
        !hasAddress(click.siteKey) ||
        conversion === undefined ||
        conversion.offerId === null ||
        conversion.payout === null
      )
        continue;
      const { siteKey, userId } = click;
      const amount = told.get(`${event.conversionId} credit`)?.amount ?? conversion.payout;
      told.set(key, {
        conversionId: event.conversionId,
        kind: event.kind,
        offerId: conversion.offerId,
        siteKey,
        userId,
        amount,
      });
    }
  }
  return [...told.values()];
}
