import { afterAll, beforeAll } from 'vitest';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { consoleOver, type Look, type OpenConsole } from './signed-in.ts';

export const asOf = '2026-11-20T12:00:00Z';

/** An offer whose title would be markup if it were not escaped. */
export const hostileTitle = '<img src=x onerror=alert(1)>';

const site = {
  site_key: 'wall',
  name: 'The Wall',
  site_secret: 'a-long-enough-secret',
  commission: 0.1,
  reward_rate: 100,
  // A private address, which is refused before anything is sent.
  postback: { url: 'http://127.0.0.1:1/told?key=of-the-publisher', method: 'GET' },
};
const game = { id: 7, external_id: 'e7', title: hostileTitle, description: '', payout: '2.5' };
const quest = {
  id: 8,
  external_id: 'e8',
  title: 'Quest',
  description: '',
  events: [{ event_id: 'level-5', description: 'Level 5', payout: '1.25' }],
};
const gone = { id: 9, external_id: 'e9', title: 'Gone', description: '', payout: '1' };

function click(click_id: string, clicked_at: string, own: object = {}) {
  const ip = '203.0.113.9';
  return { click_id, offer_id: 7, site_key: 'wall', user_id: 'u', clicked_at, ip, user_agent: 'Browser/1', ...own };
}

function conversion(conversion_id: string, click_id: string, own: object = {}) {
  return { conversion_id, click_id, kind: 'credit', occurred_at: '2026-11-20T08:00:00Z', ...own };
}

export interface SmallNetwork {
  pipeline: PipelineUnderTest;
  look: Look;
  asViewer: Look;
  /** Oldest first. */
  snapshots: string[];
}

/**
 * Two refreshes of a network that is small enough to compute by hand: between them offer 7 changed its price and offer
 * 9 left its catalog. Each click and conversion counts, or does not, for another reason.
 */
export function smallNetwork(): SmallNetwork {
  const network = {} as SmallNetwork;
  let opened: OpenConsole;
  beforeAll(async () => {
    const pipeline = await PipelineUnderTest.create(new Date(asOf), {
      sites: [site, { ...site, site_key: 'other', name: 'Other', postback: undefined }],
    });
    await pipeline.landOffers('net', [game, quest, gone]);
    await pipeline.landLog('clicks', 'ndjson', [
      click('counts', '2026-11-20T07:00:00Z'),
      click('counts-2', '2026-11-20T07:30:00Z', { site_key: 'other' }),
      click('early', '2026-11-15T07:00:00Z'),
      click('later', '2026-11-20T12:30:00Z'),
      click('nameless', '2026-11-20T07:00:00Z', { offer_id: undefined, source: 'net', external_id: 'unheard' }),
      click('quest', '2026-11-20T07:00:00Z', { offer_id: 8 }),
      click('told/"here"', '2026-11-20T07:00:00Z'),
    ]);
    await pipeline.landLog('conversions', 'ndjson', [
      conversion('v-counts', 'counts'),
      conversion('v-counts-2', 'counts-2'),
      conversion('v-early', 'early', { occurred_at: '2026-11-15T08:00:00Z' }),
      conversion('v-rejected', 'counts', { kind: 'reject' }),
      conversion('v-back', 'counts', { occurred_at: '2026-11-20T09:00:00Z' }),
      conversion('v-back', 'counts', { kind: 'chargeback', occurred_at: '2026-11-20T10:00:00Z' }),
      conversion('v-expired', 'early', {
        kind: 'reject',
        reason: 'expired',
        occurred_at: '2026-11-16T08:00:00Z',
      }),
      // Its ninety days end on the day of the as-of.
      conversion('v-lapsed', 'early', { kind: 'pending', occurred_at: '2026-08-22T06:00:00Z' }),
      conversion('v-lost', 'never-seen'),
      conversion('v-nameless', 'nameless'),
      conversion('v-quest', 'quest', { event_id: 'level-9' }),
    ]);
    await pipeline.refresh('2026-11-20T11:00:00Z', { allowFuture: true });
    await pipeline.landOffers('net', [{ ...game, payout: '3' }, quest]);
    await pipeline.refresh(asOf, { allowFuture: true });
    opened = await consoleOver(pipeline.data);
    const { current, all } = await pipeline.snapshots();
    Object.assign(network, {
      pipeline,
      look: await opened.as('operator'),
      asViewer: await opened.as('viewer'),
      snapshots: all.filter((name) => name !== 'current' && name <= current),
    });
  }, 60_000);
  afterAll(async () => {
    await opened.close();
    await network.pipeline[Symbol.asyncDispose]();
  });
  return network;
}
