import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Random } from '../../../src/demo/generate/network/random.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { deliverDue, type DeliverySummary } from '../../../src/postbacks/pass/deliver-due.ts';
import type { DeliveryStore } from '../../../src/postbacks/store/delivery-store.ts';
import type { OutboxRow } from '../../../src/postbacks/store/delivery-rows.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { createSender } from '../../../src/postbacks/http/sender.ts';
import { readSites } from '../../../src/kit/sites/sites.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { nodeArguments } from '../../support/command-line.ts';
import { outboxRow } from '../../support/deliveries.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import type { Receipt } from './postback-receiver.ts';

export interface KilledDeliveries {
  rounds: number;
  killed: number;
  events: number;
  /** Requests that arrived while deliveries were being killed, and in all. */
  underFire: number;
  receipts: number;
  /** What was not as promised; empty when all was. */
  wrong: string[];
}

const siteCount = 10;
/** Enough for deliveries of both kinds, which write to the store by themselves and by a thread. */
const eventsOfRound = 1200;
/** Retries of a round are due in the next ones. Milliseconds. */
const betweenRounds = 20 * 60_000;
/** The number of requests that a delivery gets through to before it is killed, whatever the speed of the machine. */
const mostBeforeKill = 1.2 * eventsOfRound;

/**
 * Kills deliveries at random moments, with new events taken over before and during each, and replays of old ones. Then
 * lets the rest be delivered in peace, and compares what the receiver got with what there was to tell.
 */
export async function killDeliveries(
  seed: number,
  rounds: number,
  onRound: (round: number) => void = () => {},
): Promise<KilledDeliveries> {
  const random = new Random(seed);
  const { data, remove } = await temporaryData();
  const receiver = program('postback-receiver.ts', String(seed));
  try {
    const { address } = JSON.parse(await firstLine(receiver)) as { address: string };
    await writeFile(data.sitesFile, sitesAt(address, siteCount));
    const store = SqliteStore.open(data);
    const events = new Events(random);
    const importOutbox = () => store.importOutbox('warehouse', [...events.more(eventsOfRound / 2), ...events.some(20)]);
    let killed = 0;
    let ahead = 0;
    try {
      for (let round = 1; round <= rounds; round++) {
        await importOutbox();
        const delivery = program('postback-delivery.ts', data.root, String(ahead));
        const ended = once(delivery, 'exit') as Promise<[number | null, string | null]>;
        const kill = fetch(`${address}/wait?for=${random.below(mostBeforeKill)}`);
        if (random.chance(0.5)) await Promise.race([once(delivery.stdout as NodeJS.ReadableStream, 'data'), ended]);
        await importOutbox();
        await Promise.race([kill, ended]);
        delivery.kill('SIGKILL');
        const [code, signal] = await ended;
        if (signal === 'SIGKILL') killed += 1;
        else if (code !== 0) throw new Error(`round ${round} of seed ${seed}: the delivery ended with ${code}`);
        ahead += betweenRounds;
        onRound(round);
      }
      const underFire = (await receiptsAt(address)).length;
      await fetch(`${address}/calm`);
      await deliverTheRest(data, store, ahead);
      const receipts = await receiptsAt(address);
      return {
        rounds,
        killed,
        events: events.all.length,
        underFire,
        receipts: receipts.length,
        wrong: [...mistakes(events.all, receipts), ...(await unfinished(store))],
      };
    } finally {
      await store.close();
    }
  } finally {
    receiver.kill('SIGKILL');
    await remove();
  }
}

/** As in `sites.json`, each with a path of its own at the receiver. */
export function sitesAt(address: string, count: number): string {
  const sites = Array.from({ length: count }, (_, site) => ({
    site_key: `s${site}`,
    site_secret: `secret-of-s${site}-long-enough`,
    postback: { url: `${address}/s${site}` },
  }));
  return JSON.stringify({ sites });
}

/** Events of clicks of their own and of clicks that had some, each click's in the order in which they occur. */
export class Events {
  readonly all: OutboxRow[] = [];
  readonly #random: Random;
  readonly #sites: number;

  constructor(random: Random, sites = siteCount) {
    this.#random = random;
    this.#sites = sites;
  }

  more(count: number): OutboxRow[] {
    const first = this.all.length;
    for (let number = first + 1; number <= first + count; number++) {
      const earlier =
        number > 1 && this.#random.chance(0.6)
          ? this.all[this.#random.between(Math.max(0, number - 300), number - 2)]
          : undefined;
      const conversionId = `c${number}`;
      const clickId = earlier?.clickId ?? `k${number}`;
      this.all.push(
        outboxRow(number, {
          webhookId: `w${number}-of-${conversionId}`,
          conversionId,
          clickId,
          userId: conversionId,
          siteKey: earlier?.siteKey ?? `s${this.#random.below(this.#sites)}`,
          kind: this.#random.pick(['credit', 'reject', 'chargeback']),
          occurredAt: new Date(Date.UTC(2026, 10, 1) + number * 1000).toISOString().replace('.000', ''),
        }),
      );
    }
    return this.all.slice(first);
  }

  /** Of those that were there before. */
  some(count: number): OutboxRow[] {
    return this.#random.sample(this.all, count);
  }
}

/** What of these receipts was not as promised; empty where all of the events arrived, in order. */
export function mistakes(events: OutboxRow[], receipts: Receipt[]): string[] {
  const wrong: string[] = [];
  const byConversion = new Map(events.map((event) => [event.conversionId, event]));
  const arrived = new Set<string>();
  const latestOfClick = new Map<string, number>();
  for (const { webhookId, clickId, event, userId, site } of receipts) {
    const sent = byConversion.get(userId);
    if (
      sent === undefined ||
      sent.webhookId !== webhookId ||
      sent.clickId !== clickId ||
      sent.kind !== event ||
      sent.siteKey !== site
    ) {
      wrong.push(`what arrived as ${webhookId} was never to be told: ${userId} ${event} of ${clickId} at ${site}`);
      continue;
    }
    arrived.add(userId);
    const latest = latestOfClick.get(clickId) ?? 0;
    if (sent.number < latest)
      wrong.push(`${webhookId} of ${clickId} arrived after a later event of the click (${latest})`);
    latestOfClick.set(clickId, Math.max(latest, sent.number));
  }
  return [
    ...wrong,
    ...events
      .filter(({ conversionId }) => !arrived.has(conversionId))
      .map(({ webhookId }) => `${webhookId} never arrived`),
  ];
}

export async function unfinished(store: DeliveryStore): Promise<string[]> {
  const { postbacks } = await store.changesSince(0, 1_000_000);
  return postbacks
    .filter(({ state }) => state !== 'delivered')
    .map(({ webhookId, state }) => `${webhookId} ended ${state}`);
}

/** In peace, by a clock that goes on a day from pass to pass, until there is nothing more to tell. */
export async function deliverTheRest(data: DataDirectory, store: DeliveryStore, ahead: number): Promise<void> {
  const { sites } = readSites(data.sitesFile);
  const sender = createSender({ allowPrivate: true });
  try {
    let summary: DeliverySummary;
    let now = Date.now() + ahead;
    do {
      summary = await deliverDue({
        store,
        sites,
        sender,
        now: () => now,
        logger: createLogger({ write: () => true }, 'silent'),
        progress: noProgress,
      });
      now += 24 * 3_600_000;
    } while (summary.remaining > 0);
  } finally {
    await sender.close();
  }
}

/** One of the programs beside this one, which may send to loopback. */
export function program(name: string, ...words: string[]): ChildProcess {
  const file = fileURLToPath(new URL(`./${name}`, import.meta.url));
  return spawn(process.execPath, [...nodeArguments, file, ...words], {
    env: { ...process.env, OFFERLINE_ALLOW_PRIVATE_POSTBACKS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

export async function receiptsAt(address: string): Promise<Receipt[]> {
  return (await (await fetch(`${address}/receipts`)).json()) as Receipt[];
}

export async function firstLine(child: ChildProcess): Promise<string> {
  const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return chunk.toString();
}
