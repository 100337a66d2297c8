import { mkdir, writeFile } from 'node:fs/promises';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import type { OutboxRow } from '../../../src/postbacks/store/delivery-rows.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';

/** As many addresses as the aim names; the last of them hangs where it is told to. */
export const addresses = 20;
export const hangingSite = siteKey(addresses - 1);

/** Fills a new data directory with so many due postbacks, dealt over the sites in turn; every third click has two. */
export async function dueFor(
  root: string,
  receiver: string,
  postbacks: number,
  { hanging = false, sites = addresses } = {},
): Promise<DataDirectory> {
  const data = new DataDirectory(root);
  await mkdir(data.root, { recursive: true });
  await writeFile(
    data.sitesFile,
    JSON.stringify({
      sites: Array.from({ length: addresses }, (_, site) => ({
        site_key: siteKey(site),
        site_secret: `secret-of-${siteKey(site)}-long-enough`,
        postback: { url: `${receiver}/${hanging && siteKey(site) === hangingSite ? 'hanging' : 'postback'}` },
      })),
    }),
  );
  const store = SqliteStore.open(data);
  try {
    for (let first = 1; first <= postbacks; first += 10_000) {
      await store.importOutbox('bench', rows(first, Math.min(first + 9_999, postbacks), sites));
    }
  } finally {
    await store.close();
  }
  return data;
}

function siteKey(site: number): string {
  return `s${String(site).padStart(2, '0')}`;
}

function* rows(first: number, last: number, sites: number): Generator<OutboxRow> {
  for (let number = first; number <= last; number++) {
    const site = number % sites;
    const nth = Math.floor(number / sites);
    // The second and third of three of a site share their click.
    const click = nth - (nth % 3 === 2 ? 1 : 0);
    yield {
      number,
      webhookId: `pb_${String(number).padStart(24, '0')}`,
      conversionId: `conversion-${number}`,
      kind: 'credit',
      clickId: `click-${site}-${click}`,
      siteKey: siteKey(site),
      userId: `user-${click}`,
      offerId: 1_000_001,
      reward: '0.5',
      occurredAt: '2026-01-01T00:00:00Z',
      enqueuedAt: '2026-01-01T00:00:00Z',
      further: null,
    };
  }
}
