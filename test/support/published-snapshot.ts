import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import {
  feedOfferSchema,
  feedOffersFile,
  feedSitesFile,
  feedSitesSchema,
} from '../../src/pipeline/feed/feed-document.ts';
import type { FeedOffer, FeedSites } from '../../src/pipeline/feed/feed-document.ts';
import type { SiteTerms } from '../../src/kit/sites/site-terms.ts';
import { manifestFile, manifestText, schemaVersion } from '../../src/pipeline/snapshot/manifest.ts';
import type { Manifest } from '../../src/pipeline/snapshot/manifest.ts';

/** An empty data directory in the system's temporary folder; `remove` deletes it. */
export async function temporaryData(): Promise<{ data: DataDirectory; remove: () => Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'offerline-'));
  const data = new DataDirectory(root);
  await mkdir(data.published, { recursive: true });
  return { data, remove: () => rm(root, { recursive: true, force: true }) };
}

/** A plain single-reward offer, worldwide and for all devices, with what the test cares about put over it. */
export function feedOffer(own: Partial<FeedOffer> & { id: number }): FeedOffer {
  const offer: FeedOffer = {
    source: 'net',
    status: 'active',
    titles: { en: `Offer ${own.id}` },
    descriptions: { en: `What to do for ${own.id}` },
    payout: '1.000000',
    image_name: '',
    image_source: '',
    level: '',
    stars: 0,
    categories: [],
    countries: [],
    devices: [],
    payment_term: 'net30',
    android_min_os: null,
    ios_min_os: null,
    preview_url: null,
    tracking_type: 'CPA',
    report_category: 'web',
    formats: ['offerwall'],
    daily_cap: null,
    daily_click_cap: null,
    multi_complete: false,
    events: [],
    created_at: '2026-11-01T00:00:00Z',
    updated_at: '2026-11-02T00:00:00Z',
    removed_at: null,
    figures: null,
    ...own,
  };
  return feedOfferSchema.parse(offer);
}

/** A site of a snapshot. */
export interface SnapshotSite extends Partial<Omit<SiteTerms, 'commission'>> {
  site_key: string;
  commission: string;
  /** Moment since which its commission is not another. */
  commission_changed_at?: string | null;
  /** Terms before those, the oldest first. */
  former?: FeedSites['sites'][number]['terms'];
}

/** A site as the snapshot's file has it. */
function feedSite(site: SnapshotSite): FeedSites['sites'][number] {
  const { site_key, commission, commission_changed_at: changedAt = null, former = [] } = site;
  const terms = { commission, commissions: site.commissions ?? [], offers: site.offers ?? {} };
  const first = '2026-11-01T00:00:00Z';
  const before =
    changedAt === null
      ? former
      : [...former, { ...terms, valid_from: first, commission: Number(commission) === 1 ? '0' : '1' }];
  return { site_key, terms: [...before, { ...terms, valid_from: changedAt ?? first }] };
}

export interface SnapshotContent {
  asOf?: string;
  offers: FeedOffer[];
  sites?: SnapshotSite[];
  /** Further files by path within the folder, as the pipeline would put databases and events there. */
  files?: Record<string, string | Uint8Array>;
  /** How its postbacks stand; none where not given. */
  deliveries?: Partial<Manifest['deliveries']>;
}

/** Writes a whole published snapshot with its manifest; returns its folder. `current` is left as it is. */
export async function writeSnapshot(data: DataDirectory, id: string, snapshot: SnapshotContent): Promise<string> {
  const folder = join(data.published, id);
  const asOf = snapshot.asOf ?? '2026-11-20T12:00:00Z';
  const sites = feedSitesSchema.parse({ as_of: asOf, sites: (snapshot.sites ?? []).map(feedSite) });
  const files: Record<string, string | Uint8Array> = {
    [feedOffersFile]: snapshot.offers.map((offer) => `${JSON.stringify(offer)}\n`).join(''),
    [feedSitesFile]: JSON.stringify(sites),
    'analytics.duckdb': `database of ${id}`,
    ...snapshot.files,
  };
  const manifest: Manifest = {
    snapshot_id: id,
    as_of: asOf,
    created_at: asOf,
    schema_version: schemaVersion,
    run_id: 1,
    fingerprint: `fingerprint of ${id}`,
    row_counts: { offers: snapshot.offers.length },
    deliveries: {
      pending: 0,
      delivered: 0,
      dead: 0,
      attempts: 0,
      failed_attempts: 0,
      oldest_pending_at: null,
      lag_seconds_p95: null,
      sites: [],
      ...snapshot.deliveries,
    },
    files: {},
  };
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as Uint8Array);
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), bytes);
    manifest.files[path] = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
  }
  await writeFile(join(folder, manifestFile), manifestText(manifest));
  return folder;
}

/** Moves `published/current` to a snapshot in one step, as the pipeline does. */
export async function makeCurrent(data: DataDirectory, id: string): Promise<void> {
  const temporary = join(data.published, 'current.tmp');
  await symlink(id, temporary);
  await rename(temporary, data.current);
}

/** Inverts one bit in the middle of a file; its size stays. */
export async function flipBit(path: string): Promise<void> {
  const bytes = await readFile(path);
  const middle = Math.floor(bytes.length / 2);
  const file = await open(path, 'r+');
  try {
    await file.write(Buffer.from([(bytes[middle] ?? 0) ^ 1]), 0, 1, middle);
  } finally {
    await file.close();
  }
}

export async function writeSites(data: DataDirectory, sites: object[]): Promise<void> {
  await writeFile(data.sitesFile, JSON.stringify({ sites }));
}
