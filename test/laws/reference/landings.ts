import { momentOf } from '../../../src/kit/time/moment.ts';
import type { LandingRow } from '../../support/log-files.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { decimal } from './as-published.ts';
import type { Click, ConversionEvent, ExportedOffer, Landing } from './facts.ts';

/** Lands what one run brings, in the canonical formats. All offers are of one source. */
export async function land(
  pipeline: PipelineUnderTest,
  { catalog, clicks, events }: Landing,
  source: string,
): Promise<void> {
  if (catalog !== null) await pipeline.landOffers(source, catalog.map(offerRow));
  if (clicks.length > 0) await pipeline.landLog('clicks', 'ndjson', clicks.map(clickRow));
  if (events.length > 0) await pipeline.landLog('conversions', 'ndjson', events.map(eventRow));
}

function offerRow({ offerId, externalId, status, payout, milestones }: ExportedOffer): LandingRow {
  return {
    id: offerId,
    external_id: externalId,
    title: externalId,
    status,
    payout: decimal(payout),
    ...(milestones.size > 0 && {
      events: [...milestones].map(([eventId, amount]) => ({
        event_id: eventId,
        description: eventId,
        payout: decimal(amount),
      })),
    }),
  };
}

function clickRow({ clickId, offer, siteKey, userId, clickedAt }: Click): LandingRow {
  const named = 'id' in offer ? { offer_id: offer.id } : { source: offer.source, external_id: offer.externalId };
  return { click_id: clickId, ...named, site_key: siteKey, user_id: userId, clicked_at: momentOf(clickedAt) };
}

function eventRow({ conversionId, clickId, kind, occurredAt, eventId, payout }: ConversionEvent): LandingRow {
  return {
    conversion_id: conversionId,
    click_id: clickId,
    kind,
    occurred_at: momentOf(occurredAt),
    ...(eventId !== null && { event_id: eventId }),
    ...(payout !== null && { payout: decimal(payout) }),
  };
}
