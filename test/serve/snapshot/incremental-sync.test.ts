import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import { withWarehouse } from '../../../pipelines/with-warehouse.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { acceptHeldExport, heldExports } from '../../../src/pipeline/ingest/catalog/catalog-holds.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { writeSites } from '../../support/published-snapshot.ts';
import { rounds } from '../../support/rounds.ts';
import { startService } from '../../support/running-service.ts';
import type { RunningService } from '../../support/running-service.ts';
import { slow } from '../../support/slow.ts';

const credentials = 'site_key=s&site_secret=a-long-enough-secret';
const filters = ['', '&country=DE', '&device=ios&min_payout=1', '&type=multireward'];
const ids = ['a', 'b', 'c', 'd', 'e'];
/** Enough offers of one source that an export which lacks most of them is held. */
const wallIds = Array.from({ length: 12 }, (_value, place) => `wall-${place}`);
/** So many are left in an export that is held. */
const fewOffers = 2;
/** What the runs say of exports that they hold. */
const holds: string[] = [];
const logger = createLogger({ write: (line) => line.includes(' is held: ') && holds.push(line) }, 'warn');
const terminal = { logger, progress: noProgress };

/** What a source exports and what the operator sets before one run. */
interface Step {
  offers: ({ payout: number; country: string; paused: boolean; milestones: boolean } | undefined)[];
  /** What the large source exports, if anything: all of its offers at a payout, or so few that it is held. */
  wall: { payout: number; few: boolean } | undefined;
  /** Whether the operator lets through before this run what is held. */
  accepts: boolean;
  commission: number;
  /** Whether the client polls after this run; one that sleeps for a while must not miss anything. */
  polls: boolean;
}

const offer = fc.record({
  payout: fc.integer({ min: 0, max: 3 }),
  country: fc.constantFrom('DE', 'US'),
  paused: fc.boolean(),
  milestones: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.record({
  offers: fc.array(fc.option(offer, { nil: undefined, freq: 4 }), { minLength: ids.length, maxLength: ids.length }),
  wall: fc.option(fc.record({ payout: fc.integer({ min: 1, max: 2 }), few: fc.boolean() }), { nil: undefined }),
  accepts: fc.boolean(),
  commission: fc.constantFrom(0, 0, 0, 0.5),
  polls: fc.boolean(),
});

const minuteOf = (number: number) => `2026-11-20T10:${String(number).padStart(2, '0')}:00Z`;

async function runStep(
  data: DataDirectory,
  number: number,
  { offers, wall, accepts, commission }: Step,
): Promise<void> {
  await writeSites(data, [
    { site_key: 's', site_secret: 'a-long-enough-secret', commission, rate_limit_per_hour: 1_000_000 },
  ]);
  const rows = offers.flatMap((content, place) => {
    if (content === undefined) return [];
    const { payout, country, paused, milestones } = content;
    return [
      {
        external_id: ids[place],
        title: `Offer ${ids[place]}`,
        description: '',
        payout: String(payout),
        countries: [country],
        devices: place % 2 === 0 ? ['ios'] : [],
        status: paused ? 'paused' : 'active',
        ...(milestones && { events: [{ event_id: 'm', description: 'Milestone', payout: '1' }] }),
      },
    ];
  });
  await exportOf(data, 'net', number, rows);
  if (wall !== undefined) {
    const { payout, few } = wall;
    const listed = wallIds.slice(0, few ? fewOffers : wallIds.length);
    await exportOf(
      data,
      'wall',
      number,
      listed.map((id) => ({
        external_id: id,
        title: `Offer ${id}`,
        description: '',
        payout: String(payout),
        countries: ['DE'],
        devices: [],
      })),
    );
  }
  if (accepts && holds.length > 0) {
    await withWarehouse({ command: 'offers accept', data, terminal }, async (state) => {
      for (const { fileId } of await heldExports(state.connection))
        await state.transaction(() => acceptHeldExport(state.connection, fileId));
    });
  }
  await refresh({ data, terminal, asOf: minuteOf(number) });
}

/** Each is newer than those before it. */
async function exportOf(data: DataDirectory, source: string, number: number, rows: readonly object[]): Promise<void> {
  const folder = join(data.landing, 'offers', source);
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${String(number).padStart(3, '0')}.ndjson`);
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await utimes(file, number, number);
}

/** One export is held and replaced by a newer one; another is held and then let through. */
const heldSteps: Step[] = [
  { wall: { payout: 1, few: false }, accepts: false },
  { wall: { payout: 2, few: true }, accepts: false },
  { wall: { payout: 2, few: false }, accepts: false },
  { wall: { payout: 1, few: true }, accepts: false },
  { wall: undefined, accepts: true },
].map((own) => ({ ...own, offers: ids.map(() => undefined), commission: 0, polls: true }));

/** A client's copy of one filtered list, kept up to date by what changed and what left since its last look alone. */
class Copy {
  readonly offers = new Map<number, unknown>();
  readonly #filter: string;
  #since: string | undefined;

  constructor(filter: string) {
    this.#filter = filter;
  }

  async poll(running: RunningService): Promise<void> {
    const news = this.#since === undefined ? '' : `&updated_since=${encodeURIComponent(this.#since)}&include_removed=1`;
    const answer = await running.get(`/c/api/v1/offers?${credentials}${this.#filter}${news}&limit=500`);
    const { offers, removed = [] } = (await answer.json()) as { offers: { id: number }[]; removed?: { id: number }[] };
    for (const { id } of removed) this.offers.delete(id);
    for (const one of offers) this.offers.set(one.id, one);
    this.#since = answer.headers.get('x-data-as-of') ?? undefined;
  }
}

test('a client that polls only what changed ends with the list of one that downloads all', slow, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 4 }), async (steps) => {
      await using pipeline = await PipelineUnderTest.create(new Date(minuteOf(0)));
      const { data } = pipeline;
      await mkdir(data.published);
      const running = await startService(data);
      try {
        const copies = filters.map((filter) => new Copy(filter));
        for (const [number, current] of steps.entries()) {
          await runStep(data, number, current);
          await running.service.poll();
          if (current.polls || number === steps.length - 1) for (const copy of copies) await copy.poll(running);
        }
        for (const [place, filter] of filters.entries()) {
          const { offers } = await running.json(`/c/api/v1/offers?${credentials}${filter}&limit=500`);
          const kept = [...(copies[place]?.offers.values() ?? [])] as { id: number }[];
          expect(
            kept.toSorted((one, other) => one.id - other.id),
            filter,
          ).toEqual(offers);
        }
      } finally {
        await running.service.close();
      }
    }),
    { numRuns: rounds(2, 5), examples: [[heldSteps]] },
  );
  expect(holds.length, 'exports that were held').toBeGreaterThanOrEqual(2);
});
