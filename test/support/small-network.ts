import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import type { FeedOffer } from '../../src/pipeline/feed/feed-document.ts';
import { analyticsDatabase, recordTables } from './analytics-database.ts';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from './published-snapshot.ts';
import { startService, type RunningService } from './running-service.ts';

const secretOf = (key: string) => `${key}-secret-0123456789`;

/** Sites of every variant, and one that waits for its approval for each form of error. */
export const sites = [
  { site_key: 'site-b', site_secret: secretOf('site-b'), variant: 'B', commission: 0.2, rate_limit_per_hour: 5000 },
  { site_key: 'site-c', site_secret: secretOf('site-c'), variant: 'C', commission: 0.2, rate_limit_per_hour: 5000 },
  { site_key: 'site-a', site_secret: secretOf('site-a'), variant: 'A' },
  { site_key: 'changed', site_secret: secretOf('changed'), variant: 'C', commission: 0.5 },
  { site_key: 'a key/with ünusual (parts)', site_secret: secretOf('odd'), variant: 'C' },
  { site_key: 'pending-b', site_secret: secretOf('pending-b'), variant: 'B', status: 'pending' },
  { site_key: 'pending-c', site_secret: secretOf('pending-c'), variant: 'C', status: 'pending' },
  { site_key: 'newcomer', site_secret: secretOf('newcomer'), variant: 'C', commission: 0.1 },
];

/** The credentials of a site as the start of a query string. */
export function credentials(key: string): string {
  const site = sites.find((candidate) => candidate.site_key === key);
  if (site === undefined) throw new Error(`no site ${key}`);
  return `site_key=${encodeURIComponent(key)}&site_secret=${site.site_secret}`;
}

/** Six active offers, of which 3 and 5 are multireward, and two that are gone. */
export const offers: FeedOffer[] = [
  feedOffer({
    id: 1,
    titles: { de: 'Turnier', en: 'Tournament "Gold"' },
    descriptions: { en: 'Reach level 5.\nThen wait.' },
    payout: '2.500000',
    image_name: 'tournament-1a2b.png',
    level: 'easy',
    stars: 4,
    categories: ['Games', 'Sports'],
    countries: ['CI', 'DE', 'US'],
    devices: ['android', 'desktop'],
    payment_term: 'net60',
    android_min_os: '8.0',
    preview_url: 'https://advertiser.example/preview?id=1&x=2',
    tracking_type: 'CPI',
    report_category: 'app',
    daily_cap: 100,
    daily_click_cap: 5000,
    multi_complete: true,
    created_at: '2026-10-01T08:00:00Z',
    updated_at: '2026-11-10T10:00:00.25Z',
    figures: { epc: '0.123456', cvr: '0.050000', trend: 'up', rank: 2 },
  }),
  feedOffer({
    id: 2,
    titles: { fr: 'Enquête', de: 'Umfrage' },
    descriptions: {},
    payout: '0.012345',
    devices: ['ios'],
    updated_at: '2026-11-12T00:00:00Z',
  }),
  feedOffer({
    id: 3,
    payout: '6.000000',
    categories: ['games'],
    countries: ['US'],
    ios_min_os: '15',
    events: [
      { event_id: 'install', descriptions: { en: 'Install' }, payout: '0.000000' },
      { event_id: 'level-5', descriptions: { en: 'Reach level 5', de: 'Stufe 5' }, payout: '1.000050' },
      { event_id: 'level-9', descriptions: { de: 'Stufe 9' }, payout: '4.999950' },
    ],
    figures: { epc: '1.500000', cvr: '1.250000', trend: 'stable', rank: 1 },
  }),
  feedOffer({
    id: 4,
    payout: '3',
    countries: ['DE'],
    devices: ['desktop'],
    figures: { epc: '0.000000', cvr: '0.000000', trend: 'down', rank: null },
  }),
  feedOffer({
    id: 5,
    payout: '1.000000',
    events: [{ event_id: 'lead', descriptions: { en: 'Leave your address' }, payout: '1.000000' }],
    figures: { epc: '0.200000', cvr: '0.100000', trend: 'down', rank: 4 },
  }),
  feedOffer({ id: 6, payout: '0.500000', figures: { epc: '0.300000', cvr: '0.333333', trend: 'down', rank: 3 } }),
  feedOffer({ id: 7, status: 'paused', updated_at: '2026-11-15T00:00:00Z', removed_at: '2026-11-15T00:00:00Z' }),
  feedOffer({ id: 8, status: 'vanished', updated_at: '2026-11-01T00:00:00Z', removed_at: '2026-11-16T00:00:00Z' }),
];

export const snapshotId = '20261120T120000Z-0001';

/** Nobody has clicked yet. */
let noRecords: Promise<Uint8Array> | undefined;

/** Publishes the network as the current snapshot. The newest site is not in it yet. */
export async function publishSmallNetwork(data: DataDirectory): Promise<void> {
  await writeSites(data, sites);
  const published = sites
    .filter((site) => site.site_key !== 'newcomer')
    .map((site) => ({
      site_key: site.site_key,
      commission: String(site.commission ?? 0),
      commission_changed_at: site.site_key === 'changed' ? '2026-11-11T00:00:00Z' : null,
    }));
  const files = { 'analytics.duckdb': await (noRecords ??= analyticsDatabase(...recordTables)) };
  await writeSnapshot(data, snapshotId, { offers, sites: published, files });
  await makeCurrent(data, snapshotId);
}

type StartParameters = Parameters<typeof startService> extends [unknown, ...infer Rest] ? Rest : never;

/** Serves the network from a folder of its own, as `startService` does. `close` ends that and removes the folder. */
export async function serveSmallNetwork(
  ...start: StartParameters
): Promise<RunningService & { close(): Promise<void> }> {
  const { data, remove } = await temporaryData();
  await publishSmallNetwork(data);
  const running = await startService(data, ...start);
  return {
    ...running,
    async close() {
      await running.service.close();
      await remove();
    },
  };
}
