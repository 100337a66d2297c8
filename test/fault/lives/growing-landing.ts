import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { faultyClicks, faultyConversions, type LogRow } from '../../../src/demo/generate/landing/faulty-rows.ts';
import { Random } from '../../../src/demo/generate/network/random.ts';
import { smallNetwork, type SmallNetwork } from '../../support/generated-network.ts';
import { momentOfMilliseconds, type Moment } from '../../../src/kit/time/moment.ts';
import { logFormats, writeLogFile, type LandingRow } from '../../support/log-files.ts';

const hour = 3_600_000;
const end = Date.UTC(2026, 2, 10, 13, 37);
const days = 3;
const usualClicksARound = 40;
/** Offers of the others stay unknown, and the conversions on them unattributed. */
const landedSources = 2;

export interface LandingOptions {
  clicksARound?: number | undefined;
  /**
   * Postbacks are due in each round: all sources land, every site has an address, three of four conversions land in
   * the round of their click, and most have occurred by the first round. Else most wait for something that lands later.
   */
  isBusy?: boolean | undefined;
}

/** After everything that is landed, so that nothing counts as from the future. */
export const wallClock = Date.UTC(2026, 2, 20);

/**
 * A network whose logs and catalogs arrive over a number of rounds: the same files for the same seed, wherever they are
 * landed.
 */
export class GrowingLanding {
  readonly rounds: number;
  readonly #seed: number;
  readonly #network: SmallNetwork;
  readonly #isBusy: boolean;
  readonly #roundsOfClicks: Map<string, number>;

  constructor(seed: number, rounds: number, { clicksARound = usualClicksARound, isBusy = false }: LandingOptions = {}) {
    this.rounds = rounds;
    this.#seed = seed;
    this.#network = smallNetwork(seed, { clicks: rounds * clicksARound, days, end: new Date(end) });
    this.#isBusy = isBusy;
    this.#roundsOfClicks = new Map(this.#network.clicks.map(({ click_id }, index) => [click_id, index % rounds]));
  }

  /** Content of `offerline.json`. */
  get settings(): object {
    // Its publishers take nothing, and its days are long over: that is no fault of the life.
    return {
      ...this.#network.settings,
      snapshots_kept: 2,
      snapshots_kept_hours: 0,
      freshness: { postbacks_minutes: 1e9 },
    };
  }

  /** Rounds follow each other over days of the logs, so that some of them begin a new day. */
  asOf(round: number): Moment {
    const spread = (this.#isBusy ? 1 : days) * 24 * hour;
    return momentOfMilliseconds(end - (this.rounds - 1 - round) * (spread / this.rounds));
  }

  async prepare(data: DataDirectory): Promise<void> {
    await mkdir(data.landing, { recursive: true });
    await writeFile(data.settingsFile, JSON.stringify(this.settings));
    // An address that is refused before anything is sent.
    const sites = this.#network.sites.map(({ postback = this.#isBusy ? { method: 'GET' } : undefined, ...site }) => ({
      ...site,
      ...(postback && { postback: { ...postback, url: 'http://127.0.0.1:9/postback', pending: true } }),
    }));
    await writeFile(data.sitesFile, JSON.stringify({ sites }));
  }

  /**
   * Lands what arrives before a round's refresh: part of the logs, late and repeated rows, bad rows, a broken file, at
   * times a catalog.
   */
  async land(data: DataDirectory, round: number): Promise<void> {
    const random = new Random(this.#seed * 1000 + round);
    const name = String(round).padStart(4, '0');
    const time = new Date(end + round * 60_000);
    const settle = async (path: string) => utimes(path, time, time);
    for (const kind of ['clicks', 'conversions'] as const) {
      const rows: LandingRow[] = this.#network[kind]
        .filter((row, index) => this.#roundOf(kind, row, index) === round || random.next() < 0.02)
        .map((row) => ({ ...row }));
      if (kind === 'conversions') rows.push(...this.#announced(round));
      await settle(
        await writeLogFile(join(data.landing, kind, name), kind, random.pick([...logFormats]), random.shuffle(rows)),
      );
    }
    const [click, conversion] = [this.#network.clicks[round], this.#network.conversions[round]];
    if (click !== undefined)
      await settle(
        await landLines(join(data.landing, `clicks/${name}-bad.ndjson`), [
          random.pick([...faultyClicks])(click),
          { record: click },
        ]),
      );
    if (conversion !== undefined)
      await settle(
        await landLines(join(data.landing, `conversions/${name}-bad.ndjson`), [
          random.pick([...faultyConversions])(conversion),
        ]),
      );
    if (random.next() < 0.2) {
      const path = join(data.landing, `clicks/${name}-broken.json`);
      await writeFile(path, '[{"click_id": ');
      await settle(path);
    }
    const sources = [...Map.groupBy(this.#network.offers, (offer) => offer.source)];
    for (const [source, offers] of this.#isBusy ? sources : sources.slice(0, landedSources)) {
      if (round > 0 && random.next() < 0.6) continue;
      const exported = offers
        .filter(() => round === 0 || random.next() < 0.95)
        .map(({ source: _folder, ...offer }) => ({
          record: {
            ...offer,
            ...(random.next() < 0.3 && { level: `level ${round}` }),
            ...(random.next() < 0.1 && { payout: '1.25', events: undefined }),
          },
        }));
      await settle(await landLines(join(data.landing, `offers/${source}/${name}.ndjson`), exported));
    }
  }

  /** Credits of the next round that are announced in this one. */
  #announced(round: number): LandingRow[] {
    return this.#network.conversions
      .filter((row, index) => row.kind === 'credit' && this.#roundOf('conversions', row, index) === round + 1)
      .map((row) => ({ ...row, kind: 'pending' }));
  }

  #roundOf(kind: 'clicks' | 'conversions', { click_id }: { click_id: string }, index: number): number {
    const isWithClick = this.#isBusy && kind === 'conversions' && index % 4 > 0;
    return (isWithClick ? this.#roundsOfClicks.get(click_id) : undefined) ?? index % this.rounds;
  }
}

async function landLines(path: string, rows: readonly LogRow[]): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, rows.map((row) => `${'line' in row ? row.line : JSON.stringify(row.record)}\n`).join(''));
  return path;
}
