import { request } from 'undici';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { Random } from './generate/network/random.ts';
import { readPostbackSecrets } from '../sources/config/postback-settings.ts';
import { readSources } from '../sources/config/sources-file.ts';
import { guardedReport, reportParameters } from '../tracker/conversions/guard/guarded-report.ts';

/** Visitor that a demo's advertisers remember. */
export interface Visitor {
  source: string;
  /** Id that their address was given. */
  clickId: string;
  /** Milestones of the offer, in order; none for a single-reward offer. */
  events: readonly string[];
}

export interface AdvertiserOptions {
  data: DataDirectory;
  /** Such as `http://127.0.0.1:8082`. */
  tracker: string;
  random: Random;
  /** Time from a click, and from a conversion, to the next event. Seconds. */
  after: readonly [shortest: number, longest: number];
}

/** Shares of conversions: those that are rejected later, and those that go on to the next milestone. */
const rejected = 0.06;
const goesOn = 0.5;

/** The advertisers of a demo: somebody who came may convert after a while, and they report it, by their own tokens. */
export class DemoAdvertisers {
  readonly counts = { conversions: 0, rejects: 0, unheard: 0 };
  readonly #options: AdvertiserOptions;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(options: AdvertiserOptions) {
    this.#options = options;
  }

  /** Somebody came who will convert. */
  expect(visitor: Visitor): void {
    const [event, ...events] = visitor.events;
    this.#later(async () => {
      if (!(await this.#report(visitor, event, 'credit'))) return;
      const { random } = this.#options;
      if (random.chance(rejected)) this.#later(async () => void (await this.#report(visitor, event, 'reject')));
      else if (events.length > 0 && random.chance(goesOn)) this.expect({ ...visitor, events });
    });
  }

  /** Forgets all that has not happened yet. */
  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #later(work: () => Promise<void>): void {
    const [shortest, longest] = this.#options.after;
    // Evenly spread between soon and late.
    const seconds = shortest * (longest / shortest) ** this.#options.random.next();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void work();
    }, seconds * 1000).unref();
    this.#timers.add(timer);
  }

  /** True where the tracker took it. */
  async #report(
    { source, clickId }: Visitor,
    eventId: string | undefined,
    status: 'credit' | 'reject',
  ): Promise<boolean> {
    const { data, tracker } = this.#options;
    try {
      const settings = readSources(data).sources.find((entry) => entry.source === source)?.postback;
      if (settings === undefined) return false;
      const fields = {
        click_id: clickId,
        transaction_id: `demo-${clickId}${eventId === undefined ? '' : `-${eventId}`}`,
        ...(eventId !== undefined && { event_id: eventId }),
        status,
      };
      const { target, headers } = guardedReport(
        source,
        settings,
        readPostbackSecrets(source, settings),
        reportParameters(settings, fields),
        Date.now(),
      );
      const answer = await request(tracker + target, { headers });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
      this.counts[status === 'credit' ? 'conversions' : 'rejects']++;
      return true;
    } catch {
      // The tracker is being started again, or a file is being written: a demo's advertisers give up.
      this.counts.unheard++;
      return false;
    }
  }
}
