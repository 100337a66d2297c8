import type { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { sqliteTransaction } from '../kit/sqlite/open-sqlite.ts';
import type { JsonValue } from '../kit/text/json-text.ts';
import type { Fetching } from './http/fetcher.ts';
import { pagesOf } from './http/pages.ts';
import { pageFacts } from './fetch-all-pages.ts';
import { firstPage } from './next-page.ts';
import { openPullDatabase } from './pull-database.ts';
import { NetworkRecord } from './records/record-fields.ts';
import type { ResolvedSource } from './resolve-source.ts';

/** Links of campaigns, each asked for once: in the file of the pull ledger, so that a killed pull keeps what it has. */
export class CampaignLinkStore implements Disposable {
  readonly #database: DatabaseSync;

  constructor(data: DataDirectory) {
    this.#database = openPullDatabase(data);
  }

  get(source: string, campaign: string): string | undefined {
    const row = this.#database
      .prepare('SELECT link FROM campaign_links WHERE source = ? AND campaign_id = ?')
      .get(source, campaign);
    return row === undefined ? undefined : String(row['link']);
  }

  put(source: string, links: ReadonlyMap<string, string>): void {
    const write = this.#database.prepare('INSERT OR REPLACE INTO campaign_links VALUES (?, ?, ?)');
    sqliteTransaction(this.#database, () => {
      for (const [campaign, link] of links) write.run(source, campaign, link);
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** Links written at a time: what a killed pull may have to ask for again. */
const linksOfWrite = 50;

/** Links of a source's offers, by their campaigns. */
export class CampaignLinks {
  readonly #source: ResolvedSource;
  readonly #fetching: Fetching;
  readonly #store: Pick<CampaignLinkStore, 'get' | 'put'> | undefined;
  readonly #links = new Map<string, string | undefined>();

  constructor(source: ResolvedSource, fetching: Fetching, store?: Pick<CampaignLinkStore, 'get' | 'put'>) {
    this.#source = source;
    this.#fetching = fetching;
    this.#store = store;
  }

  /** Asks for the links that are not known yet. Throws `FetchError` where the network gives no answer. */
  async learn(records: readonly JsonValue[]): Promise<void> {
    const { name, offers } = this.#source;
    if (offers?.campaigns === undefined) return;
    const { stream, campaignOf, linkOf } = offers.campaigns;
    const news = new Map<string, string>();
    const keep = () => {
      this.#store?.put(name, news);
      news.clear();
    };
    for (const record of records) {
      const campaign = campaignOf(new NetworkRecord(record));
      if (campaign === undefined || this.#links.has(campaign)) continue;
      let link = this.#store?.get(name, campaign);
      if (link === undefined) {
        const answer = await pagesOf(this.#source, stream, this.#fetching, { campaign })(firstPage(stream));
        link = linkOf(pageFacts(stream, answer).records.map((member) => new NetworkRecord(member)));
        if (link !== undefined) news.set(campaign, link);
        if (news.size === linksOfWrite) keep();
      }
      this.#links.set(campaign, link);
    }
    keep();
  }

  /** Returns the link of an offer; undefined for networks whose offers have theirs. */
  of(record: NetworkRecord): string | undefined {
    const campaign = this.#source.offers?.campaigns?.campaignOf(record);
    return campaign === undefined ? undefined : this.#links.get(campaign);
  }
}
