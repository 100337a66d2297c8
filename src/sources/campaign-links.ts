import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { sqliteTransaction } from '../kit/sqlite/open-sqlite.ts';
import type { JsonValue } from '../kit/text/json-text.ts';
import type { CampaignRequest } from './connectors/connector.ts';
import { FetchError, NoListError, type Fetching } from './http/fetcher.ts';
import { pagesOf } from './http/pages.ts';
import { pageFacts } from './fetch-all-pages.ts';
import { firstAddress } from './next-page.ts';
import { openPullDatabase } from './pull-database.ts';
import { NetworkRecord } from './records/record-fields.ts';
import type { ResolvedSource } from './resolve-source.ts';

/** A link that a network gave. */
interface StoredLink {
  link: string;
  /** Milliseconds since the epoch. */
  askedAt: number;
}

/** Links of campaigns: in the file of the pull ledger, so that a killed pull keeps what it has. */
export class CampaignLinkStore implements Disposable {
  readonly #database: DatabaseSync;

  constructor(data: DataDirectory) {
    this.#database = openPullDatabase(data);
  }

  /** `account`: the one of the network's that the links lead to. */
  get(source: string, account: string, campaign: string): StoredLink | undefined {
    const row = this.#database
      .prepare('SELECT link, asked_at FROM campaign_links WHERE source = ? AND account = ? AND campaign_id = ?')
      .get(source, account, campaign);
    return row === undefined ? undefined : { link: String(row['link']), askedAt: Number(row['asked_at']) };
  }

  put(source: string, account: string, links: ReadonlyMap<string, StoredLink>): void {
    const write = this.#database.prepare('INSERT OR REPLACE INTO campaign_links VALUES (?, ?, ?, ?, ?)');
    sqliteTransaction(this.#database, () => {
      for (const [campaign, { link, askedAt }] of links) write.run(source, account, campaign, link, askedAt);
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** Links written at a time: what a killed pull may have to ask for again. */
const linksOfWrite = 50;
/** Age after which a link is asked for again: a network may replace it. */
const freshMilliseconds = 7 * 24 * 60 * 60_000;
/** Old links that one pull asks for again; the others follow with the next ones. */
const maxRenewed = 500;
/** A network that has no answer for so many campaigns in a row has none at all. */
const maxFaults = 20;
/** The network refuses the account, or asks to wait: it is not about one campaign. */
const statusesOfAll = [401, 403, 408, 429];

type LinkStore = Pick<CampaignLinkStore, 'get' | 'put'>;

/** Links of a source's offers, by their campaigns. */
export class CampaignLinks {
  readonly #source: ResolvedSource;
  readonly #fetching: Fetching;
  readonly #store: LinkStore | undefined;
  readonly #account: string;
  readonly #links = new Map<string, string | undefined>();
  #renewed = 0;
  #faults = 0;
  #asked = 0;
  #lastFault: FetchError | undefined;

  constructor(source: ResolvedSource, fetching: Fetching, store?: LinkStore) {
    this.#source = source;
    this.#fetching = fetching;
    this.#store = store;
    this.#account = hash('sha256', JSON.stringify([source.baseUrl, source.account])).slice(0, 16);
  }

  /**
   * Asks for the links that are not known yet, or old. A campaign that the network has no answer for has the link that
   * it had, or none. Throws `FetchError` where it answers none.
   */
  async learn(records: readonly JsonValue[]): Promise<void> {
    const { name, offers } = this.#source;
    if (offers?.campaigns === undefined) return;
    const { campaignOf } = offers.campaigns;
    const news = new Map<string, StoredLink>();
    const keep = () => {
      this.#store?.put(name, this.#account, news);
      news.clear();
    };
    try {
      for (const record of records) {
        const campaign = campaignOf(new NetworkRecord(record));
        if (campaign === undefined || this.#links.has(campaign)) continue;
        const known = this.#store?.get(name, this.#account, campaign);
        const now = this.#fetching.clock.now();
        const isOld = known !== undefined && known.askedAt <= now - freshMilliseconds;
        const isAsked = known === undefined || (isOld && this.#renewed++ < maxRenewed);
        const link = isAsked ? await this.#linkOf(campaign, offers.campaigns, known?.link) : known.link;
        if (isAsked) this.#asked++;
        if (isAsked && link !== undefined) news.set(campaign, { link, askedAt: now });
        if (news.size === linksOfWrite) keep();
        this.#links.set(campaign, link);
      }
    } finally {
      keep();
    }
  }

  /**
   * Throws `FetchError` where campaigns were asked for and none has a link, of this pull or an earlier one: each offer
   * would be paused, and it is the request that is wrong.
   */
  requireAny(): void {
    if (this.#asked === 0 || [...this.#links.values()].some((link) => link !== undefined)) return;
    throw (
      this.#lastFault ??
      new FetchError(
        `the network answers without a link for each of ${this.#links.size} campaigns: nothing is written, and the current offers stay. Look at "links" and the source's secrets`,
      )
    );
  }

  /** Asks for a link. `before`: the one that it had. */
  async #linkOf(
    campaign: string,
    { stream, linkOf }: CampaignRequest,
    before: string | undefined,
  ): Promise<string | undefined> {
    try {
      const answer = await pagesOf(this.#source, stream, this.#fetching, { campaign })(firstAddress(stream));
      this.#faults = 0;
      return linkOf(pageFacts(stream, answer).records.map((member) => new NetworkRecord(member)));
    } catch (error) {
      // Where there is no such campaign, an answer of XML may have nothing but that.
      if (error instanceof NoListError) return undefined;
      if (!isOfOne(error) || ++this.#faults === maxFaults) throw error;
      this.#lastFault = error;
      return before;
    }
  }

  /** Returns the link of an offer; undefined for networks whose offers have theirs. */
  of(record: NetworkRecord): string | undefined {
    const campaign = this.#source.offers?.campaigns?.campaignOf(record);
    return campaign === undefined ? undefined : this.#links.get(campaign);
  }
}

/** True where an answer's status says that there is none for this one campaign. */
function isOfOne(error: unknown): error is FetchError {
  return error instanceof FetchError && error.status !== undefined && !statusesOfAll.includes(error.status);
}
