import { join } from 'node:path';
import { FeedOffers } from './feed-offers.ts';
import { feedOffersFile } from './feed-document.ts';
import type { CatalogNames } from './unmatched-rules.ts';

/** Returns the names in the published feed, gone offers included; undefined where nothing is published yet. */
export async function publishedNames(currentFolder: string): Promise<CatalogNames | undefined> {
  const feed = await FeedOffers.read(join(currentFolder, feedOffersFile)).catch(() => undefined);
  if (feed === undefined) return undefined;
  const [ids, sources, categories] = [new Set<number>(), new Set<string>(), new Set<string>()];
  for (let place = 0; place < feed.count; place++) {
    const offer = feed.at(place);
    ids.add(offer.id);
    sources.add(offer.source);
    for (const category of offer.categories) categories.add(category.toLowerCase());
  }
  return { ids, sources, categories };
}
