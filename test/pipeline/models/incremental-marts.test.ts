import { expect, it } from 'vitest';
import { refresh, stages } from '../../../pipelines/refresh.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import type { Moment } from '../../../src/kit/time/moment.ts';
import { changeState } from '../../support/change-state.ts';
import { watchedEffects } from '../../fault/lives/watched-effects.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const asOf = '2026-03-10T12:00:00Z';
const wallClock = new Date('2026-03-20T00:00:00Z');
const dayMilliseconds = 86_400_000;
const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

const momentOnDay = (day: number) => new Date(Date.parse('2020-01-01T10:00:00Z') + day * dayMilliseconds).toISOString();
const click = (id: string, clicked_at: string, offer: object = { offer_id: 1 }) => ({
  click_id: id,
  ...offer,
  site_key: 's',
  user_id: 'u',
  clicked_at,
});
const event = (id: string, kind: string, occurred_at: string) => ({
  conversion_id: id,
  click_id: 'c0',
  kind,
  occurred_at,
});

it('days of few rows are written in a few statements, all of them', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(wallClock);
  await pipeline.landOffers('net', [{ external_id: 'a', id: 1, title: 'A', payout: '2' }]);
  await pipeline.landLog(
    'clicks',
    'ndjson',
    Array.from({ length: 120 }, (_, day) => click(`c${day}`, momentOnDay(day))),
  );
  await pipeline.landLog('conversions', 'ndjson', [
    event('x', 'credit', momentOnDay(3)),
    event('y', 'credit', momentOnDay(118)),
  ]);
  const written: string[] = [];
  await refresh(
    { data: pipeline.data, terminal: silent, asOf },
    watchedEffects(wallClock.getTime(), ({ step, moment }) => {
      if (moment === 'after' && /^mart (conversions|offer_hourly): written$/.test(step)) written.push(step);
    }),
  );
  expect(written.length).toBeLessThan(10);
  expect(
    await pipeline.ask(
      'SELECT count(*) AS rows, count(DISTINCT hour) AS days, sum(clicks) AS clicks, sum(conversions) AS conversions, sum(earnings) AS earnings FROM offer_hourly',
    ),
  ).toEqual([{ rows: 120, days: 120, clicks: 120, conversions: 2, earnings: '4.000000' }]);
  expect(await pipeline.ask('SELECT conversion_id, occurred_at FROM conversions ORDER BY 1')).toEqual([
    { conversion_id: 'x', occurred_at: '2020-01-04T10:00:00Z' },
    { conversion_id: 'y', occurred_at: '2020-04-28T10:00:00Z' },
  ]);
});

it('a day that loses its only row is empty afterwards', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(wallClock);
  await pipeline.landOffers('net', [{ external_id: 'a', id: 1, title: 'A', payout: '2' }]);
  await pipeline.landLog('clicks', 'ndjson', [click('c0', momentOnDay(0))]);
  await pipeline.landLog('conversions', 'ndjson', [event('x', 'reject', momentOnDay(5))]);
  await pipeline.refresh(asOf);
  // With its credit it belongs to the credit's day.
  await pipeline.landLog('conversions', 'ndjson', [event('x', 'credit', momentOnDay(2))]);
  await pipeline.refresh(asOf);
  expect(await pipeline.ask('SELECT conversion_id, status, occurred_at FROM conversions')).toEqual([
    { conversion_id: 'x', status: 'rejected', occurred_at: '2020-01-03T10:00:00Z' },
  ]);
});

it('a conversion changes with its events, click, offer and an event stamped ahead', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(wallClock);
  const changes = async (moment: Moment, options?: { clock: Moment; allowOlder?: boolean }) => {
    await pipeline.refresh(moment, options);
    return pipeline.ask('SELECT status, reason, changed_at FROM conversions');
  };
  const at = (hour: number) => `2026-03-10T${hour}:00:00Z`;
  await pipeline.landLog('conversions', 'ndjson', [event('x', 'credit', at(10))]);
  expect(await changes(at(11), { clock: at(12) })).toEqual([
    { status: 'unattributed', reason: null, changed_at: at(12) },
  ]);
  await pipeline.landLog('clicks', 'ndjson', [click('c0', at(10), { source: 'net', external_id: 'a' })]);
  // As of an earlier moment than the one before: the clock counts.
  expect(await changes(at(10), { clock: at(13), allowOlder: true })).toEqual([
    { status: 'unattributed', reason: null, changed_at: at(13) },
  ]);
  await pipeline.landOffers('net', [{ external_id: 'a', id: 1, title: 'A', payout: '2' }]);
  expect(await changes(at(14), { clock: at(14) })).toEqual([{ status: 'credited', reason: null, changed_at: at(14) }]);
  await pipeline.landLog('conversions', 'ndjson', [{ ...event('x', 'reject', at(18)), reason: 'no install' }]);
  expect(await changes(at(15), { clock: at(15) })).toEqual([{ status: 'credited', reason: null, changed_at: at(14) }]);
  expect(await changes(at(19), { clock: at(19) })).toEqual([
    { status: 'rejected', reason: 'no install', changed_at: at(18) },
  ]);
  await pipeline.landLog('conversions', 'ndjson', [{ ...event('x', 'chargeback', at(11)), reason: 'fraud' }]);
  expect(await changes(at(20), { clock: at(20) })).toEqual([
    { status: 'charged_back', reason: 'fraud', changed_at: at(20) },
  ]);
});

it('an announced conversion is pending until a credit, a reject or after 90 days', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(wallClock);
  const begun = '2025-11-01T10:00:00Z';
  const at = (day: number, minute = 0) =>
    new Date(Date.parse(begun) + day * dayMilliseconds + minute * 60_000).toISOString().replace('.000', '');
  await pipeline.landOffers('net', [{ external_id: 'a', id: 1, title: 'A', payout: '2' }]);
  await pipeline.landLog('clicks', 'ndjson', [click('c0', begun)]);
  const announced = ['credited', 'rejected', 'left', 'late'];
  await pipeline.landLog('conversions', 'ndjson', [
    ...announced.map((id) => ({ ...event(id, 'pending', begun), payout: '1.5' })),
    { ...event('lost', 'pending', begun), click_id: 'unknown' },
  ]);
  const shown = async (moment: Moment, options?: { clock?: Moment; allowOlder?: boolean }) => {
    await pipeline.refresh(moment, { clock: moment, ...options });
    const rows = await pipeline.ask<{ conversion_id: string; status: string; reversed_at: string; reason: string }>(
      'SELECT conversion_id, status, reversed_at, reason FROM conversions ORDER BY conversion_id',
    );
    const counted = await pipeline.ask(
      'SELECT coalesce(sum(conversions), 0)::INTEGER AS conversions, coalesce(sum(earnings), 0) AS earnings FROM offer_daily',
    );
    return {
      rows: rows.map(({ conversion_id: id, status, reversed_at, reason }) =>
        [id, status, reversed_at, reason].filter((each) => each !== null).join(' '),
      ),
      counted: counted[0],
    };
  };
  const nothing = { conversions: 0, earnings: '0.000000' };
  expect(await shown(at(1))).toEqual({
    rows: ['credited pending', 'late pending', 'left pending', 'lost unattributed', 'rejected pending'],
    counted: nothing,
  });
  await pipeline.landLog('conversions', 'ndjson', [
    { ...event('credited', 'credit', at(2)), payout: '1.75' },
    { ...event('rejected', 'reject', at(2)), reason: 'no install' },
  ]);
  const decided = [
    'credited credited',
    'late pending',
    'left pending',
    'lost unattributed',
    `rejected rejected ${at(2)} no install`,
  ];
  const one = { conversions: 1, earnings: '1.750000' };
  expect(await shown(at(3))).toEqual({ rows: decided, counted: one });
  expect(await shown(at(90, -1))).toEqual({ rows: decided, counted: one });
  const expired = decided.map((row) =>
    row.replace('pending', 'rejected').replace(/^(late|left|lost) \w+$/, `$& ${at(90)} expired`),
  );
  expect(await shown(at(90))).toEqual({ rows: expired, counted: one });
  expect(await pipeline.ask(`SELECT DISTINCT changed_at FROM conversions WHERE reason = 'expired'`)).toEqual([
    { changed_at: at(90) },
  ]);
  // As of an earlier moment it is open again.
  expect((await shown(at(89), { clock: at(90), allowOlder: true })).rows).toEqual(decided);
  await pipeline.landLog('conversions', 'ndjson', [event('late', 'credit', at(95))]);
  expect(await shown(at(100))).toEqual({
    rows: expired.map((row) => (row.startsWith('late') ? 'late credited' : row)),
    counted: { conversions: 2, earnings: '3.750000' },
  });
});

it('the roll-up of a day of clicks on unknown offers only is audited, too', async () => {
  await using pipeline = await PipelineUnderTest.create(wallClock);
  await pipeline.landLog('clicks', 'ndjson', [click('c0', momentOnDay(0), { source: 'net', external_id: 'unknown' })]);
  const request = { data: pipeline.data, terminal: silent, asOf };
  await stages.ingest(request);
  await changeState(pipeline.data, 'UPDATE click_hourly SET clicks = 2');
  await stages.models(request);
  await expect(stages.publish(request)).rejects.toThrow('roll_up_equals_events');
});

it('the state has no rows left of figures that later runs replaced', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(wallClock);
  await pipeline.landOffers('net', [{ external_id: 'a', id: 1, title: 'A', payout: '2' }]);
  await pipeline.landLog('clicks', 'ndjson', [click('c0', '2026-03-10T10:00:00Z')]);
  await pipeline.landLog('conversions', 'ndjson', [event('x', 'credit', '2026-03-10T11:00:00Z')]);
  for (const minute of [0, 1, 2, 3]) await pipeline.refresh(`2026-03-10T12:0${minute}:00Z`);
  const kept = `SELECT table_name, estimated_size AS rows FROM duckdb_tables()
    WHERE NOT temporary AND table_name IN ('offer_stats_2d', 'network_hourly', 'site_days')
    ORDER BY table_name`;
  expect(await withDuckDB(pipeline.data.stateFile, readOnly, (state) => queryRows(state, kept))).toEqual([
    { table_name: 'network_hourly', rows: 2 },
    { table_name: 'offer_stats_2d', rows: 1 },
    { table_name: 'site_days', rows: 1 },
  ]);
});
