import { writeFile } from 'node:fs/promises';
import { defaultSettings } from '../../../src/kit/config/settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { createTracker, type Tracker } from '../../../src/tracker/tracker.ts';
import { recordTrackerAddress } from '../../../src/tracker/tracker-address.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

export const token = 'a-token-that-north-keeps';
export const begin = Date.parse('2026-11-18T10:00:00Z');

const offers = [
  { external_id: 'one', id: 1, title: 'One', payout: '2.5', destination_url: 'https://adv.example/?c={click_id}' },
  {
    external_id: 'many',
    id: 2,
    title: 'Many',
    destination_url: 'https://adv.example/?c={click_id}',
    events: [
      { event_id: 'install', description: 'Install', payout: '0.4' },
      { event_id: 'Stufe №5', description: 'Level', payout: '1.6' },
    ],
  },
];

/** Two sources' offers and clicks that no tracker took, published. */
export async function publishedNetwork(): Promise<PipelineUnderTest> {
  const sites = [{ site_key: 'k1', site_secret: 'a-secret-of-this-very-site' }];
  const pipeline = await PipelineUnderTest.create(new Date(begin), { sites, settings: { rates: { EUR: '1.1' } } });
  await pipeline.landOffers('north', offers);
  await pipeline.landOffers('south', [{ ...offers[0], id: 3 }]);
  await pipeline.landLog('clicks', 'ndjson', [
    { click_id: 'IMPORTED-1', offer_id: 1, site_key: 'k1', user_id: 'u9', clicked_at: '2026-11-18T08:00:00Z' },
    {
      click_id: 'IMPORTED-2',
      source: 'north',
      external_id: 'many',
      site_key: 'k1',
      user_id: 'u9',
      clicked_at: '2026-11-18T08:00:00Z',
    },
    { click_id: 'IMPORTED-3', offer_id: 3, site_key: 'k1', user_id: 'u9', clicked_at: '2026-11-18T08:00:00Z' },
  ]);
  await pipeline.refresh('2026-11-18T10:00:00Z');
  return pipeline;
}

/**
 * Two sources' offers published, and a tracker that answers over sockets of its own, by a clock that the test moves.
 */
export class TrackedNetwork implements AsyncDisposable {
  readonly pipeline: PipelineUnderTest;
  now = begin;
  tracker!: Tracker;
  address = '';

  private constructor(pipeline: PipelineUnderTest) {
    this.pipeline = pipeline;
  }

  /** Over published offers; `postback` is how the first source reports. Does not remove the pipeline. */
  static async create(pipeline: PipelineUnderTest, postback: object = { token }): Promise<TrackedNetwork> {
    const network = new TrackedNetwork(pipeline);
    const sources = [
      { source: 'north', postback },
      { source: 'south', postback: { token: 'a-token-that-south-keeps' } },
    ];
    await writeFile(pipeline.data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
    await network.start();
    return network;
  }

  async start(): Promise<void> {
    const log = createLogger({ write: () => true }, 'silent');
    this.tracker = await createTracker({
      data: this.pipeline.data,
      settings: { ...defaultSettings, rates: { EUR: '1.1' } },
      log,
      effects: { now: () => this.now, files: realEffects.files },
      repeat: () => () => {},
    });
    this.address = await this.tracker.listen({ host: '127.0.0.1', port: 0 });
    await recordTrackerAddress(this.pipeline.data, this.address, log);
  }

  /** A click through the front door; gives the id that the advertiser is sent. */
  async click(offer: number, user: string): Promise<string> {
    const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
    const link = `${this.address}/redirect/manual-offer/${offer}/user/${user}/site/k1`;
    const answer = await fetch(link, { headers, redirect: 'manual' });
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`${answer.status}: ${await answer.text()}`);
    return new URL(location).searchParams.get('c') ?? '';
  }

  /** Status and word of the answer to a report by GET, with north's token unless it has one. */
  async report(fields: Record<string, string>, source = 'north'): Promise<[number, string]> {
    const query = new URLSearchParams({ token, ...fields }).toString();
    const answer = await fetch(`${this.address}/postback/${source}?${query}`);
    const { status, error } = (await answer.json()) as { status?: string; error?: string };
    return [answer.status, status ?? error ?? ''];
  }

  /** Stops the tracker, so that all its logs have landed, and refreshes. */
  async land(): Promise<void> {
    await this.tracker.close();
    await this.pipeline.refresh(new Date(this.now + 1000).toISOString());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tracker.close();
  }
}
