import type { ConversionEvent, Landing, Millionths } from './facts.ts';
import { Reference } from './figures.ts';

export interface ReferencePostback {
  conversionId: string;
  kind: ConversionEvent['kind'];
  offerId: number;
  siteKey: string;
  userId: string;
  /** Gross amount that the site's reward is computed from. */
  amount: Millionths;
}

/**
 * Postbacks by their definition: goes through the runs in order, and through all events of each, and adds the postbacks
 * that are possible by then and were not before. Sites ask for announcements.
 */
export function postbacksBy(
  landings: readonly Landing[],
  hasAddress: (siteKey: string) => boolean,
): ReferencePostback[] {
  const postbacks = new Map<string, ReferencePostback>();
  for (const [run, { asOf }] of landings.entries()) {
    const known = landings.slice(0, run + 1);
    const happened = known.flatMap(({ events }) => events).filter(({ occurredAt }) => occurredAt <= asOf);
    const clicks = known.flatMap((landing) => landing.clicks);
    // Credits come first, since the others have the amount of their credit.
    for (const event of happened.toSorted((a, b) => Number(b.kind === 'credit') - Number(a.kind === 'credit'))) {
      const key = `${event.conversionId} ${event.kind}`;
      if (postbacks.has(key)) continue;
      const isOf = ({ conversionId, kind }: ConversionEvent) =>
        conversionId === event.conversionId && kind !== 'pending';
      // What has ended is not announced any more.
      if (event.kind === 'pending' && happened.some(isOf)) continue;
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
      const amount = postbacks.get(`${event.conversionId} credit`)?.amount ?? conversion.payout;
      postbacks.set(key, {
        conversionId: event.conversionId,
        kind: event.kind,
        offerId: conversion.offerId,
        siteKey,
        userId,
        amount,
      });
    }
  }
  return [...postbacks.values()];
}
