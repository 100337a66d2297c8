import { expect, it } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const wallClock = new Date('2026-03-10T12:00:00Z');
const click = (day: string, id = day) => ({
  click_id: `c-${id}`,
  offer_id: 1,
  site_key: 's',
  user_id: 'u',
  clicked_at: `2026-03-${day}T08:00:00Z`,
});

/** `day clicks as_of` of every row of report_daily. */
async function reports(pipeline: PipelineUnderTest): Promise<string[]> {
  const rows = await pipeline.ask<{ row: string }>(
    `SELECT strftime(report_date, '%d') || ' ' || clicks || ' ' || strftime(timezone('UTC', as_of), '%dT%H:%M') AS row FROM report_daily ORDER BY report_date`,
  );
  return rows.map(({ row }) => row);
}

async function withClicks(...days: string[]): Promise<PipelineUnderTest> {
  const pipeline = await PipelineUnderTest.create(wallClock);
  await pipeline.landOffers('alpha', [{ external_id: 'one', id: 1, title: 'One', payout: '1' }]);
  for (const day of days) await pipeline.landLog('clicks', 'ndjson', [click(day)]);
  return pipeline;
}

/** With a click and a run on each of three days. */
const runDaily = sharedPipeline(async () => {
  const days = ['06', '07', '08'];
  const pipeline = await withClicks(...days);
  for (const day of days) await pipeline.refresh(`2026-03-${day}T10:00:00Z`);
  return pipeline;
});

it('closes days as of their last microsecond, also without a run, not those of a pause', slow, async () => {
  await using pipeline = await withClicks('05', '06', '07', '08');
  await pipeline.refresh('2026-03-05T10:00:00Z');
  expect(await reports(pipeline)).toEqual(['05 1 05T10:00']);
  await pipeline.refresh('2026-03-08T10:00:00Z');
  const closed = ['05 1 05T23:59', '06 2 06T23:59', '07 2 07T23:59'];
  expect(await reports(pipeline)).toEqual([...closed, '08 2 08T10:00']);
  await pipeline.refresh('2036-03-05T10:00:00Z');
  expect(await reports(pipeline)).toEqual([...closed, '08 2 08T23:59', '09 1 09T23:59']);
  const { all } = await pipeline.snapshots();
  const days = await pipeline.ask<{ day: string }>(
    `SELECT DISTINCT parse_filename(file)[:10] AS day FROM glob('${pipeline.data.published}/${all.at(-2)}/marts/*/*.parquet') ORDER BY day`,
  );
  expect(days.map(({ day }) => day)).toEqual([
    ...['05', '06', '07', '08', '09'].map((day) => `2026-03-${day}`),
    '2036-03-05',
  ]);
});

it('takes late data into the closed days that it touches', slow, async () => {
  const pipeline = await runDaily();
  await pipeline.landLog('clicks', 'ndjson', [click('06', 'late')]);
  await pipeline.refresh('2026-03-08T11:00:00Z');
  expect(await reports(pipeline)).toEqual(['06 2 06T23:59', '07 3 07T23:59', '08 2 08T11:00']);
});

it('lists the days that it has, and why it lacks others', slow, async () => {
  await using pipeline = await withClicks('03', '06', '07', '08');
  const states = async () =>
    (
      await pipeline.ask<{ day: string }>(
        `SELECT strftime(report_date, '%d') || ' ' || state AS day FROM report_days ORDER BY report_date`,
      )
    ).map(({ day }) => day);
  await pipeline.refresh('2026-03-06T10:00:00Z');
  // The 8th's click is there already, but its day is still to come.
  expect(await states()).toEqual(['03 missing', '04 missing', '06 open']);
  await pipeline.landLog('clicks', 'ndjson', [click('04', 'late')]);
  await pipeline.refresh('2026-03-07T10:00:00Z');
  expect(await states()).toEqual(['03 missing', '04 missing', '05 missing', '06 current', '07 open']);
  expect(
    await pipeline.ask(`SELECT new_clicks, new_conversions FROM report_days WHERE report_date = '2026-03-04'`),
  ).toEqual([{ new_clicks: true, new_conversions: false }]);
});

it('is whole again after an older as-of was published', slow, async () => {
  const pipeline = await runDaily();
  const before = await reports(pipeline);
  await refresh({
    data: pipeline.data,
    terminal: { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress },
    asOf: '2026-03-07T10:00:00Z',
    allowOlder: true,
  });
  expect(await reports(pipeline)).toEqual(['06 1 06T23:59', '07 2 07T10:00']);
  await pipeline.refresh('2026-03-08T10:00:00Z');
  expect(await reports(pipeline)).toEqual(before);
});

it('closes a day once more that a run as of a time to come had closed before it was over', slow, async () => {
  await using pipeline = await withClicks('10', '11');
  await pipeline.landLog('conversions', 'ndjson', [
    { conversion_id: 'v', click_id: 'c-11', kind: 'credit', occurred_at: '2026-03-11T09:00:00Z' },
  ]);
  await pipeline.refresh('2026-03-10T12:00:00Z');
  await pipeline.refresh('2026-04-01T12:00:00Z', { clock: '2026-03-10T12:10:00Z', allowFuture: true });
  const ranks = `SELECT strftime(report_date, '%d') AS day, rank FROM report_daily WHERE report_date >= '2026-03-11' ORDER BY report_date`;
  expect(await pipeline.ask(ranks)).toEqual([
    { day: '11', rank: 1 },
    { day: '12', rank: 1 },
  ]);
  await pipeline.refresh('2026-03-10T12:20:00Z', { allowOlder: true });
  await pipeline.landOffers('alpha', [{ external_id: 'one', id: 1, title: 'One', payout: '1', status: 'paused' }]);
  await pipeline.refresh('2026-03-10T13:00:00Z');
  await pipeline.refresh('2026-03-14T12:00:00Z');
  expect(await pipeline.ask(ranks)).toEqual([
    { day: '11', rank: null },
    { day: '12', rank: null },
  ]);
});
