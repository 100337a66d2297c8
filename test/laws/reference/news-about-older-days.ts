import { microsecondsOf } from '../../../src/kit/time/moment.ts';
import type { Click, ConversionEvent, Landing, Micros } from './facts.ts';

const at = (text: string): Micros => microsecondsOf(text) as Micros;
const click = (clickId: string, clickedAt: string): Click => ({
  clickId,
  offer: { id: 1 },
  siteKey: 'site',
  userId: 'user',
  clickedAt: at(clickedAt),
});
const event = (
  conversionId: string,
  clickId: string,
  kind: ConversionEvent['kind'],
  occurredAt: string,
): ConversionEvent => ({ conversionId, clickId, kind, occurredAt: at(occurredAt), eventId: null, payout: null });

/**
 * Two credits of days before the window: the last run learns the click of one, and as-of reaches the chargeback of the
 * other. Of a third credit, whose day was reported meanwhile, it learns both.
 */
export const newsAboutOlderDays: Landing[] = [
  {
    asOf: at('2026-03-09T20:00:00Z'),
    catalog: null,
    clicks: [],
    events: [event('reversed', 'late', 'credit', '2026-03-09T12:00:00Z')],
  },
  {
    asOf: at('2026-03-10T10:00:00Z'),
    catalog: [
      {
        offerId: 1,
        source: 'alpha',
        externalId: 'offer-1',
        status: 'active',
        payout: 1_000_000n,
        milestones: new Map(),
      },
    ],
    clicks: [click('known', '2026-03-06T11:00:00Z')],
    events: [
      event('waiting', 'missing', 'credit', '2026-03-07T12:00:00Z'),
      event('standing', 'known', 'credit', '2026-03-06T12:00:00Z'),
      event('standing', 'known', 'chargeback', '2026-03-10T11:00:00Z'),
    ],
  },
  {
    asOf: at('2026-03-10T12:00:00Z'),
    catalog: null,
    clicks: [click('missing', '2026-03-10T09:00:00Z'), click('late', '2026-03-06T09:00:00Z')],
    events: [event('reversed', 'late', 'chargeback', '2026-03-10T11:30:00Z')],
  },
];
