import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { examine, type Diagnosis } from '../../../src/pipeline/doctor/doctor.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { differences, publishedTables } from '../../fault/lives/published-tables.ts';
import { flipBit } from '../../support/published-snapshot.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const day = '2026-03-10';
const at = (time: string) => `${day}T${time}Z`;
const future = '2027-01-01T00:00:00Z';

function doctor({ data }: PipelineUnderTest, clock: string, repair = false): Promise<Diagnosis> {
  const opening = {
    data,
    settings: { duckdb: { threads: 1 } },
    logger: createLogger({ write: () => true }, 'silent'),
    effects: { ...realEffects, now: () => Date.parse(clock) },
  };
  return examine(opening, { deep: false, repair, progress: noProgress });
}

/** Notes, of files that the next run sweeps, aside. */
async function troubles(pipeline: PipelineUnderTest, clock: string): Promise<string[]> {
  return (await doctor(pipeline, clock)).findings
    .filter(({ level }) => level === 'trouble')
    .map(({ check, problem }) => `${check} ${problem}`);
}

const clicked = (id: string, external_id: string, clicked_at: string) => ({
  click_id: id,
  source: 'net',
  external_id,
  site_key: 's',
  user_id: 'u',
  clicked_at,
});
const credited = (click_id: string, occurred_at: string) => ({
  conversion_id: `v-${click_id}`,
  click_id,
  kind: 'credit',
  occurred_at,
});
const offer = (external_id: string, payout: string, title = external_id) => ({ external_id, title, payout });

const network = sharedPipeline(publishedAtNine);

async function publishedAtNine(): Promise<PipelineUnderTest> {
  // The site's receiver takes nothing, for longer than a year by some of the clocks: no trouble of these tests.
  const settings = { freshness: { postbacks_minutes: 1_000_000 } };
  const pipeline = await PipelineUnderTest.create(new Date(at('09:00:00')), { settings });
  await setCommission(pipeline, 0.2);
  await pipeline.landOffers('net', [offer('a', '1'), offer('gone', '9')]);
  await pipeline.landLog(
    'clicks',
    'ndjson',
    ['c0', 'c1', 'c2', 'c3', 'c4'].map((id) => clicked(id, 'a', at('08:00:00'))),
  );
  await pipeline.landLog('conversions', 'ndjson', [credited('c0', at('08:30:00'))]);
  await pipeline.refresh(at('09:00:00'));
  return pipeline;
}

function setCommission({ data }: PipelineUnderTest, commission: number): Promise<void> {
  const site = {
    site_key: 's',
    site_secret: 'a-secret-of-a-site',
    commission,
    postback: { url: 'http://127.0.0.1:9/postback' },
  };
  return writeFile(data.sitesFile, JSON.stringify({ sites: [site] }));
}

/**
 * Landings before the run whose time is wrong: another price, another commission, an offer that comes, one that goes,
 * a credit stamped ahead.
 */
async function landBeforeTen(pipeline: PipelineUnderTest): Promise<void> {
  await setCommission(pipeline, 0.3);
  await pipeline.landOffers('net', [offer('a', '2'), offer('new', '5')]);
  await pipeline.landLog('clicks', 'ndjson', [clicked('n', 'new', at('09:50:00'))]);
  await pipeline.landLog('conversions', 'ndjson', [credited('c1', at('10:10:00'))]);
}

/**
 * Landings from then on, and the refreshes of them, the first one by the doctor's hand where the run before has to be
 * led back.
 */
async function goOn(pipeline: PipelineUnderTest, allowOlder: boolean): Promise<void> {
  await pipeline.landOffers('net', [offer('a', '3'), offer('new', '5', 'renamed')]);
  await pipeline.landLog('conversions', 'ndjson', [credited('c2', at('10:30:00')), credited('n', at('11:00:00'))]);
  await pipeline.refresh(at('12:00:00'), { allowOlder });
  await pipeline.landLog('conversions', 'ndjson', [credited('c3', at('12:30:00'))]);
  await pipeline.landLog('clicks', 'ndjson', [clicked('late', 'new', at('20:00:00'))]);
  await pipeline.refresh('2026-03-13T08:00:00Z');
}

describe('a run as of a time that is yet to come', () => {
  it('is named, and repaired to what its right time gives; sent postbacks stay', slow, async () => {
    const pipeline = await network();
    await landBeforeTen(pipeline);
    await pipeline.refresh(future, { clock: at('10:00:00'), allowFuture: true });
    const rewards = 'SELECT conversion_id, reward FROM postbacks ORDER BY conversion_id';
    const sent = await pipeline.ask(rewards);
    expect(sent).toEqual([
      { conversion_id: 'v-c0', reward: '0.8000' },
      { conversion_id: 'v-c1', reward: '0.7000' },
    ]);

    expect(await troubles(pipeline, at('12:00:00'))).toEqual([
      `clock is as of ${future}, but the clock says ${at('12:00:00')}: no refresh is let in before`,
      `clock has figures as of ${future}, but the clock says ${at('12:00:00')}`,
      `clock 3 versions of offers and 1 changes of sites' terms begin ahead of this machine's clock, the last at ${future}: credits until then would go by older prices than the feeds show`,
    ]);
    await expect(pipeline.refresh(at('12:00:00'))).rejects.toThrow(
      '`offerline doctor --repair` moves future timestamps back to now',
    );

    expect((await doctor(pipeline, at('12:00:00'), true)).repaired).toHaveLength(3);
    await goOn(pipeline, true);
    expect(await pipeline.ask(rewards)).toEqual(expect.arrayContaining(sent));
    expect(await pipeline.ask('SELECT conversion_id, payout FROM conversions ORDER BY conversion_id')).toEqual([
      { conversion_id: 'v-c0', payout: '1.000000' },
      { conversion_id: 'v-c1', payout: '2.000000' },
      { conversion_id: 'v-c2', payout: '2.000000' },
      { conversion_id: 'v-c3', payout: '3.000000' },
      { conversion_id: 'v-n', payout: '5.000000' },
    ]);
    expect(await troubles(pipeline, '2026-03-13T08:00:00Z')).toEqual([]);

    expect(
      await pipeline.ask(
        `SELECT count(*) AS ahead FROM offers WHERE greatest(created_at, updated_at, removed_at) > TIMESTAMPTZ '${at('12:00:00')}'`,
      ),
    ).toEqual([{ ahead: 0 }]);
    expect(await pipeline.ask('SELECT commission_changed_at FROM sites')).toEqual([
      { commission_changed_at: at('12:00:00') },
    ]);
    expect(
      await pipeline.ask(
        `SELECT conversion_id, changed_at FROM conversions WHERE click_id IN ('c0', 'c1') ORDER BY ALL`,
      ),
    ).toEqual([
      { conversion_id: 'v-c0', changed_at: at('09:00:00') },
      { conversion_id: 'v-c1', changed_at: at('12:00:00') },
    ]);

    // What was repaired counts as updated by the repair, digests are those of what the run wrote, and a postback says
    // what it said.
    const except = [
      'updated_at',
      'commission_changed_at',
      'site_terms.valid_from',
      'site_terms.valid_to',
      'published_sha256',
      'content_sha256',
      'reward',
      'enqueued_at',
      'changed_at',
    ];
    const ledBack = await publishedTables(pipeline.data, { except });
    const twin = await network();
    await landBeforeTen(twin);
    await twin.refresh(at('10:00:00'));
    await goOn(twin, false);
    expect(differences(await publishedTables(twin.data, { except }), ledBack)).toEqual([]);
  });

  it('more than once: each version takes effect when its run wrote it, whatever its time was', slow, async () => {
    const pipeline = await network();
    for (const [payout, clock] of [
      ['2', at('10:00:00')],
      ['3', at('11:00:00')],
    ] as const) {
      await pipeline.landOffers('net', [offer('a', payout), offer('gone', '9')]);
      await pipeline.ingest(future, { clock, allowFuture: true });
    }
    expect((await doctor(pipeline, at('12:00:00'), true)).repaired.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^2 versions of offers .*, the last at 2027-01-01T00:00:00.000001Z/),
    ]);
    await pipeline.landLog(
      'conversions',
      'ndjson',
      ['09:59:00', '10:01:00', '11:01:00', '12:01:00'].map((time, index) => credited(`c${index + 1}`, at(time))),
    );
    await pipeline.refresh(at('12:02:00'));
    expect(await pipeline.ask('SELECT payout FROM conversions ORDER BY conversion_id')).toEqual(
      ['1', '1', '2', '3', '3'].map((dollars) => ({ payout: `${dollars}.000000` })),
    );
  });

  it('dates a new offer back; the same record makes one more version, and no other', slow, async () => {
    const pipeline = await network();
    const offers = [offer('a', '1'), offer('gone', '9'), offer('new', '5')];
    await pipeline.landOffers('net', offers);
    await pipeline.ingest(future, { clock: at('10:00:00'), allowFuture: true });
    await doctor(pipeline, at('12:00:00'), true);
    await pipeline.landOffers('net', offers);
    await pipeline.ingest(at('12:01:00'));
    await pipeline.landOffers('net', offers);
    await pipeline.refresh(at('12:02:00'));
    expect(await pipeline.ask('SELECT external_id, version, created_at FROM offers ORDER BY external_id')).toEqual([
      { external_id: 'a', version: 1, created_at: at('09:00:00') },
      { external_id: 'gone', version: 1, created_at: at('09:00:00') },
      { external_id: 'new', version: 2, created_at: at('10:00:00') },
    ]);
  });

  it('by a clock that was ahead itself: versions begin at the repair, in their order', slow, async () => {
    const pipeline = await network();
    await pipeline.landOffers('net', [offer('a', '2'), offer('gone', '9')]);
    await pipeline.ingest(future);
    await pipeline.landOffers('net', [offer('a', '3'), offer('gone', '9')]);
    await pipeline.refresh('2027-01-01T01:00:00Z');
    await expect(pipeline.refresh(at('12:00:00'), { clock: at('12:00:00'), allowOlder: true })).rejects.toThrow(
      /2 versions of offers .*credits until then.*`offerline doctor --repair`/,
    );
    await doctor(pipeline, at('12:00:00'), true);
    await pipeline.landLog('conversions', 'ndjson', [credited('c1', at('11:59:00')), credited('c2', at('12:01:00'))]);
    await pipeline.refresh(at('12:02:00'), { allowOlder: true });
    expect(
      await pipeline.ask(
        `SELECT version, valid_from, payout FROM offer_history JOIN offers USING (offer_id, payout, version) WHERE external_id = 'a'`,
      ),
    ).toEqual([{ version: 3, valid_from: at('12:00:00.000001'), payout: '3.000000' }]);
    expect(await pipeline.ask(`SELECT valid_from FROM offer_history WHERE version = 2`)).toEqual([
      { valid_from: at('12:00:00') },
    ]);
    expect(await pipeline.ask(`SELECT payout FROM conversions ORDER BY conversion_id`)).toEqual([
      { payout: '1.000000' },
      { payout: '1.000000' },
      { payout: '3.000000' },
    ]);
    expect(await troubles(pipeline, at('12:02:00'))).toEqual([]);
  });

  it('that never was published is repaired, too: no catalog of the future sets a price', slow, async () => {
    const pipeline = await network();
    await pipeline.landOffers('net', [offer('a', '2'), offer('gone', '9')]);
    await expect(pipeline.refresh(future, { clock: at('10:00:00') })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('--allow-future') as string,
    });
    await pipeline.ingest(future, { clock: at('10:00:00'), allowFuture: true });
    await expect(pipeline.refresh(at('11:00:00'))).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(
        /1 versions of offers .*`offerline doctor --repair` moves future timestamps back to now/,
      ) as string,
    });
    const { current } = await pipeline.snapshots();
    await doctor(pipeline, at('12:00:00'), true);
    await pipeline.landLog('conversions', 'ndjson', [credited('c1', at('12:00:30'))]);
    await pipeline.refresh(at('12:01:00'));
    expect((await pipeline.snapshots()).current).not.toBe(current);
    expect(await pipeline.ask(`SELECT payout FROM conversions ORDER BY conversion_id`)).toEqual([
      { payout: '1.000000' },
      { payout: '2.000000' },
    ]);
  });
});

describe('a damaged snapshot, before which one ahead of the clock was published', () => {
  const damagedPipeline = sharedPipeline(async () => {
    const pipeline = await publishedAtNine();
    await pipeline.refresh(future, { clock: at('10:00:00'), allowFuture: true });
    await doctor(pipeline, at('11:00:00'), true);
    await pipeline.refresh(at('11:00:00'), { allowOlder: true });
    await flipBit(join(pipeline.data.current, 'feed-offers.ndjson'));
    return pipeline;
  });

  /** The first snapshot, that of the future, and the current one, which is damaged. */
  async function damagedAfterFuture(): Promise<{ pipeline: PipelineUnderTest; first: string; damaged: string }> {
    const pipeline = await damagedPipeline();
    const { current: damaged, all } = await pipeline.snapshots();
    return { pipeline, first: all[0] as string, damaged };
  }

  it('is replaced by the newest of the past, and the refresh that follows is let in', slow, async () => {
    const { pipeline, first } = await damagedAfterFuture();
    await doctor(pipeline, at('12:00:00'), true);
    expect((await pipeline.snapshots()).current).toBe(first);
    expect((await pipeline.refresh(at('12:00:00'))).snapshotId).not.toBeNull();
    expect(await troubles(pipeline, at('12:00:00'))).toEqual([]);
  });

  it('stays where there is no other one of the past, until a refresh has published', slow, async () => {
    const { pipeline, first, damaged } = await damagedAfterFuture();
    await rm(join(pipeline.data.published, first), { recursive: true });
    await doctor(pipeline, at('12:00:00'), true);
    expect((await pipeline.snapshots()).current).toBe(damaged);
    expect((await pipeline.refresh(at('12:00:00'))).snapshotId).not.toBeNull();
    expect(await troubles(pipeline, at('12:00:00'))).toEqual([]);
  });

  it('and no link to it: none is made to the future', slow, async () => {
    const { pipeline, first, damaged } = await damagedAfterFuture();
    for (const name of [first, damaged]) await rm(join(pipeline.data.published, name), { recursive: true });
    await rm(pipeline.data.current);
    await doctor(pipeline, at('12:00:00'), true);
    await expect(pipeline.snapshots()).rejects.toMatchObject({ code: 'ENOENT' });
    expect((await pipeline.refresh(at('12:00:00'))).snapshotId).not.toBeNull();
    expect(await troubles(pipeline, at('12:00:00'))).toEqual([]);
  });
});

it('an as-of of the next five minutes is no trouble: clocks differ', slow, async () => {
  const pipeline = await network();
  await pipeline.landOffers('net', [offer('a', '2'), offer('gone', '9')]);
  await pipeline.refresh(at('10:05:00'), { clock: at('10:00:00') });
  expect(await troubles(pipeline, at('10:00:00'))).toEqual([]);
  await expect(pipeline.refresh(at('10:01:00'), { clock: at('10:01:00') })).rejects.toThrow('--allow-older');
  await pipeline.refresh(at('10:06:00'), { clock: at('10:06:00') });
});
