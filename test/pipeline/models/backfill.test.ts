import { beforeAll, expect, it } from 'vitest';
import { backfillReports, planBackfill } from '../../../pipelines/backfill.ts';
import { stages } from '../../../pipelines/refresh.ts';
import { parseSettings } from '../../../src/kit/config/settings.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { smallNetwork } from '../../support/generated-network.ts';
import { modelsStage } from '../../../src/pipeline/models/models-stage.ts';
import { reportsToBackfill, type BackfillScope } from '../../../src/pipeline/models/report-backfill.ts';
import { addDays, endOfDay, type Day } from '../../../src/kit/time/moment.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { acquireWriterLock } from '../../../src/pipeline/runs/lock.ts';
import { LogLanding, click, conversion } from '../../support/log-landing.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { testRun } from '../../test-run.ts';
import { slow } from '../../support/slow.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const asOf = '2026-03-10T13:37:00Z';
/** A week in the suite; 60 by `npm run test:backfill`, in half a minute. */
const days = Number(process.env['BACKFILL_DAYS'] ?? 7);
const network = smallNetwork(7, { clicks: 40 * days, days, end: new Date(asOf) });
const lastClosed = '2026-03-09';
const closedDays = Array.from({ length: days - 1 }, (_, index) => addDays(lastClosed, index - days + 2));
const everything: BackfillScope = { all: false };
/** Under ids of their own, so that none depends on when an offer was first seen. */
const offers = network.offers.map((offer, index) => ({ ...offer, id: 5000 + index }));

/** Without waiting for the disk: what is asked here is not whether it survives a power loss. */
const unsynced: Effects = {
  ...realEffects,
  files: { ...realEffects.files, syncFile: () => Promise.resolve(), syncDirectory: () => Promise.resolve() },
};

const figures = '* EXCLUDE (report_date)';
type Reports = Record<Day, unknown>;

/** Reports of a run at the end of each day, with all data there already. */
let daily: Reports;
beforeAll(async () => {
  await using landing = await LogLanding.create();
  const settings = parseSettings(JSON.stringify(network.settings), 'offerline.json');
  for (const source of new Set(offers.map((offer) => offer.source))) {
    await landing.put(
      `offers/${source}/1.ndjson`,
      offers.filter((offer) => offer.source === source).map(({ source: _folder, ...offer }) => offer),
    );
  }
  await landing.put('clicks/all.ndjson', [...network.clicks]);
  await landing.put('conversions/all.ndjson', [...network.conversions]);
  await landing.ingest({ settings, asOf: '2026-01-01T00:00:00Z', wallClock: asOf, effects: unsynced });
  daily = {};
  for (const [index, day] of closedDays.entries()) {
    await modelsStage.run(
      testRun(landing.data, { runId: 100 + index, settings, asOf: endOfDay(day), effects: unsynced }),
      landing.state,
    );
    daily[day] = await landing.query('FROM offer_stats_2d ORDER BY offer_id');
  }
});

async function landed(): Promise<PipelineUnderTest> {
  const pipeline = await PipelineUnderTest.create(new Date(asOf), { settings: network.settings });
  for (const [source, exported] of Map.groupBy(offers, (offer) => offer.source)) {
    await pipeline.landOffers(
      source,
      exported.map(({ source: _folder, ...offer }) => offer),
    );
  }
  await pipeline.landLog(
    'clicks',
    'ndjson',
    network.clicks.map((each) => ({ ...each })),
  );
  await pipeline.landLog(
    'conversions',
    'ndjson',
    network.conversions.map((each) => ({ ...each })),
  );
  await stages.ingest(
    { data: pipeline.data, terminal: silent, asOf: '2026-01-01T00:00:00Z' },
    { ...realEffects, now: () => new Date(asOf).getTime() },
  );
  await pipeline.refresh(asOf);
  return pipeline;
}

async function reports(pipeline: PipelineUnderTest): Promise<Reports> {
  const rows = await pipeline.ask<{ report_date: string }>(
    `SELECT report_date, ${figures} FROM report_daily WHERE report_date <= '${lastClosed}' ORDER BY report_date, offer_id`,
  );
  return Object.fromEntries(
    Map.groupBy(rows, ({ report_date }) => report_date)
      .entries()
      .map(([day, ofDay]) => [day, ofDay.map(({ report_date: _day, ...row }) => row)]),
  );
}

/** Effects that end the process, as it were, when a mart's file is renamed for the nth time. */
function killedAt(nth: number): Effects {
  let calls = 0;
  const rename: Effects['files']['rename'] = (from, to, step) =>
    step.startsWith('mart') && ++calls === nth
      ? Promise.reject(new Error('killed'))
      : realEffects.files.rename(from, to, step);
  return { ...unsynced, files: { ...unsynced.files, rename } };
}

it(`of ${days} days gives what daily runs gave, also killed twice; all is published at once`, slow, async () => {
  await using pipeline = await landed();
  const request = { data: pipeline.data, terminal: silent, scope: everything };
  const before = await pipeline.snapshots();
  expect((await planBackfill(request)).map(({ day, state }) => `${day} ${state}`)).toEqual(
    closedDays.map((day) => `${day} missing`),
  );
  expect(await reports(pipeline)).toEqual({});

  await expect(backfillReports(request, killedAt(3))).rejects.toThrow('killed');
  await expect(backfillReports(request, killedAt(2))).rejects.toThrow('killed');
  expect(await pipeline.snapshots()).toEqual(before);
  expect((await planBackfill(request)).filter(({ staged }) => staged)).toHaveLength(2 + 1);
  // A scheduled run beside it neither publishes nor sweeps away what was computed.
  await pipeline.refresh('2026-03-10T13:38:00Z');
  expect(await reports(pipeline)).toEqual({});

  const summary = await backfillReports(request, unsynced);
  expect(summary.reports).toHaveLength(days - 1);
  expect(await reports(pipeline)).toEqual(daily);
  expect(await planBackfill(request)).toEqual([]);
  expect(await backfillReports(request)).toEqual({ reports: [], snapshotId: null });
  // All of it again changes nothing.
  const again = await backfillReports(
    { ...request, scope: { all: true, from: '2026-03-04', to: '2026-03-06' } },
    unsynced,
  );
  expect(again.reports.map(({ day, changed, added, removed }) => [day, changed, added, removed])).toEqual(
    ['04', '05', '06'].map((day) => [`2026-03-${day}`, 0, 0, 0]),
  );
});

it('waits for the warehouse and gives up with exit code 3, with what was computed kept', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(asOf), { settings: { lock_wait_seconds: 0 } });
  const lock = await acquireWriterLock(pipeline.data, {
    command: 'a test',
    waitSeconds: 0,
    onWaiting: () => undefined,
  });
  await expect(backfillReports({ data: pipeline.data, terminal: silent, scope: everything })).rejects.toMatchObject({
    exitCode: 3,
  });
  lock.release();
});

const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}`;
const clickOf = (number: number, id = 'c') => click(`${id}${number}`, { clicked_at: `${day(number)}T10:00:00Z` });
const creditOf = (number: number, id = 'v') =>
  conversion(`${id}${number}`, { click_id: `c${number}`, occurred_at: `${day(number)}T11:00:00Z` });

/** A warehouse with a click and a credit on every day up to the 17th, and the reports of all of them. */
async function reported(): Promise<LogLanding & { models: () => ReturnType<typeof modelsStage.run> }> {
  const landing = await LogLanding.create();
  const numbers = Array.from({ length: 17 }, (_, index) => index + 1);
  await landing.put('offers/net/1.ndjson', [{ id: 7, external_id: 'e', title: 'Offer', payout: '1' }]);
  await landing.put(
    'clicks/1.ndjson',
    numbers.map((number) => clickOf(number)),
  );
  await landing.put(
    'conversions/1.ndjson',
    numbers.map((number) => creditOf(number)),
  );
  let runId = 100;
  const models = (at: number = 18) =>
    modelsStage.run(
      testRun(landing.data, {
        runId: ++runId,
        asOf: `${day(at)}T12:00:${String(runId % 60).padStart(2, '0')}Z`,
        effects: unsynced,
      }),
      landing.state,
    );
  await landing.ingest({ asOf: '2026-11-01T00:00:00Z', wallClock: '2026-11-18T12:00:00Z', effects: unsynced });
  await models(1);
  await models();
  expect(await outdated(landing)).toEqual([]);
  return Object.assign(landing, { models });
}

async function outdated(landing: LogLanding): Promise<string[]> {
  return (await reportsToBackfill(landing.state, everything)).map(
    ({ day: each, causes }) => `${each.slice(-2)} ${causes}`,
  );
}

it('late files mark exactly the reports that they change, and say why', slow, async () => {
  await using landing = await reported();
  await landing.put('clicks/late.ndjson', [clickOf(4, 'late')]);
  // A chargeback counts from its own day on: those of the 8th and 9th ended before the 12th. That of the 14th is in
  // time.
  await landing.put('conversions/late.ndjson', [
    creditOf(10, 'late'),
    { ...creditOf(8), kind: 'chargeback', occurred_at: `${day(12)}T09:00:00Z` },
    { ...creditOf(14), kind: 'reject', occurred_at: `${day(15)}T09:00:00Z` },
  ]);
  await landing.ingest({ runId: 300 });
  expect(await outdated(landing)).toEqual([
    '04 new clicks',
    '05 new clicks',
    '10 new conversion events',
    '11 new conversion events',
    '15 new conversion events',
  ]);
  await landing.models();
  expect(await outdated(landing)).toEqual([]);

  await landing.put('conversions/early.ndjson', [
    conversion('waits', { click_id: 'later', occurred_at: `${day(6)}T11:00:00Z` }),
  ]);
  await landing.ingest({ runId: 301 });
  await landing.models();
  await landing.put('clicks/later.ndjson', [
    click('later', { clicked_at: `${day(2)}T10:00:00Z`, offer_id: undefined, source: 'other', external_id: 'x' }),
  ]);
  await landing.ingest({ runId: 302 });
  expect(await outdated(landing)).toEqual([
    '02 new clicks',
    '03 new clicks',
    '06 clicks that conversions waited for',
    '07 clicks that conversions waited for',
  ]);
  await landing.models();
  await landing.put('offers/other/1.ndjson', [{ id: 9, external_id: 'x', title: 'Other', payout: '2' }]);
  await landing.ingest({ runId: 303 });
  expect(await outdated(landing)).toEqual(['02', '03', '06', '07'].map((each) => `${each} offers new to the catalog`));
});

it('a late click marks the reports of its credit, whatever else of the conversion comes with it', slow, async () => {
  await using landing = await reported();
  const waiting = (['chargeback', 'reject', 'pending'] as const).map((kind, index) => ({
    kind,
    credit: conversion(kind, { click_id: kind, occurred_at: `${day(6 + 3 * index)}T11:00:00Z` }),
  }));
  await landing.put(
    'conversions/early.ndjson',
    waiting.map(({ credit }) => credit),
  );
  await landing.ingest({ runId: 300 });
  await landing.models();
  await landing.put(
    'clicks/late.ndjson',
    waiting.map(({ kind }) => click(kind, { clicked_at: `${day(2)}T10:00:00Z` })),
  );
  await landing.put(
    'conversions/later.ndjson',
    waiting.map(({ kind, credit }) => ({ ...credit, kind, occurred_at: `${day(16)}T11:00:00Z` })),
  );
  await landing.ingest({ runId: 301 });
  expect(await outdated(landing)).toEqual([
    '02 new clicks',
    '03 new clicks',
    ...['06', '07', '09', '10', '12', '13'].map((each) => `${each} clicks that conversions waited for`),
  ]);
});
it('a run computes some of the outdated reports, the newest first; others stay marked', slow, async () => {
  await using landing = await reported();
  await landing.put(
    'clicks/late.ndjson',
    Array.from({ length: 17 }, (_, index) => clickOf(index + 1, 'late')),
  );
  await landing.ingest({ runId: 300 });
  expect(await landing.models()).toMatchObject({ reportsOutdated: 7 });
  expect((await outdated(landing)).map((each) => each.slice(0, 2))).toEqual(['01', '02', '03', '04', '05', '06', '07']);
  expect(await landing.models()).toMatchObject({ reportsOutdated: 0 });
  expect(await outdated(landing)).toEqual([]);
});
