import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import type { Receipt } from '../../fault/deliveries/postback-receiver.ts';
import { Child } from './child.ts';
import { changeJson } from './machines.ts';

const leader = fileURLToPath(new URL('leader-child.ts', import.meta.url));

/** One of several machines, with its process that may be gone: one that would like to write, where not told else. */
export class Leader implements AsyncDisposable {
  readonly data: DataDirectory;
  readonly #orders: string;
  readonly #program: string;
  child: Child;

  constructor(data: DataDirectory, orders: string, program: string = leader) {
    this.data = data;
    this.#orders = orders;
    this.#program = program;
    this.child = this.#start();
  }

  #start(): Child {
    return new Child(this.#program, [this.data.root, this.#orders], { OFFERLINE_ALLOW_PRIVATE_POSTBACKS: '1' });
  }

  /** Whether it took the lease last, as far as it knows. */
  get leads(): boolean {
    return this.child.told.lastIndexOf('leads epoch') > this.child.told.lastIndexOf('lost\n');
  }

  /** The epoch of the lease that it took last; 0 before the first one. */
  get epoch(): number {
    return Number([...this.child.told.matchAll(/leads epoch (\d+)/g)].at(-1)?.[1] ?? 0);
  }

  /** Waits until it leads and has told this since it took the lease. */
  async tellsLeading(what: string): Promise<void> {
    await this.child.tellsSo(what, () => this.leads && this.#hasTold(what));
  }

  /** The same, where it leads at all. */
  async tellsIfLeading(what: string): Promise<void> {
    await this.child.tellsSo(what, () => !this.leads || this.#hasTold(what));
  }

  #hasTold(what: string): boolean {
    return this.child.told.lastIndexOf(what) > this.child.told.lastIndexOf('leads epoch');
  }

  async die(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.child.ended;
    this.child = this.#start();
  }

  [Symbol.asyncDispose]() {
    return this.child[Symbol.asyncDispose]();
  }
}

/** Waits until whoever leads has heard that nothing is to be done before a round begins. */
export async function atRest(leaders: readonly Leader[], round: number): Promise<void> {
  await Promise.all(leaders.map((each) => each.tellsIfLeading(`rests before round ${round};`)));
}

/** What delivery has to tell, by the machine that works alone: ids, and what goes before what. */
export function toTell(data: DataDirectory) {
  const store = new DatabaseSync(data.deliveriesFile, { readOnly: true });
  try {
    return store
      .prepare(
        'SELECT webhook_id AS id, conversion_id, kind, click_id, site_key, user_id, sort_key, enqueued_at FROM postbacks ORDER BY sort_key, conversion_id, sequence',
      )
      .all() as Record<string, string>[];
  } finally {
    store.close();
  }
}

/** What is wrong with what a receiver got, as against that, a line each. */
export function mistakes(data: DataDirectory, receipts: readonly Receipt[]): string[] {
  const events = toTell(data);
  const byId = new Map(events.map((event) => [event['id'] as string, event]));
  const firstAt = new Map<string, number>();
  const wrong: string[] = [];
  for (const [at, { webhookId, clickId, event, userId, site }] of receipts.entries()) {
    const told = byId.get(webhookId);
    const isSame =
      told?.['click_id'] === clickId &&
      told['kind'] === event &&
      told['user_id'] === userId &&
      told['site_key'] === site;
    if (!isSame) wrong.push(`${webhookId} was never to be told: ${event} of ${clickId} to ${site}`);
    if (!firstAt.has(webhookId)) firstAt.set(webhookId, at);
  }
  for (const { id, click_id } of events) if (!firstAt.has(id as string)) wrong.push(`${id} of ${click_id} never came`);
  for (const sameClick of Map.groupBy(events, ({ click_id }) => click_id).values())
    for (const [index, earlier] of sameClick.entries())
      for (const later of sameClick.slice(index + 1)) {
        const [one, other] = [firstAt.get(earlier['id'] as string) ?? 0, firstAt.get(later['id'] as string) ?? 0];
        // An event that landed in a later round could not go before what was told already.
        if (one > other && (earlier['enqueued_at'] as string) <= (later['enqueued_at'] as string))
          wrong.push(`${later['id']} of click ${later['click_id']} came before ${earlier['id']}`);
      }
  return wrong;
}

/** Sites that want postbacks get them at the receiver. */
export async function tellSitesAt(data: DataDirectory, address: string, path = '/postback'): Promise<void> {
  const { sites } = JSON.parse(await readFile(data.sitesFile, 'utf8')) as { sites: { postback?: object }[] };
  await changeJson(data.sitesFile, {
    sites: sites.map((site) => ({
      ...site,
      ...(site.postback && { postback: { ...site.postback, url: `${address}${path}`, method: 'GET' } }),
    })),
  });
}
