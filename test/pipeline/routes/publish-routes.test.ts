import { chmodSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { currentName } from '../../../src/pipeline/snapshot/snapshot-store.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { RouteFollower } from '../../../src/tracker/routes/route-follower.ts';
import { readRoutes } from '../../../src/pipeline/routes/routes-file.ts';
import { endOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const destination = 'https://advertiser.example/offer?c={click_id}';
const offers = [
  {
    external_id: 'one',
    id: 1,
    title: 'One',
    payout: '1.50',
    destination_url: destination,
    countries: ['DE'],
    daily_cap: 3,
  },
  {
    external_id: 'two',
    id: 2,
    title: 'Two',
    destination_url: destination,
    events: [
      { event_id: 'install', description: 'Install', payout: '0.25' },
      { event_id: 'level', description: 'Level 5', payout: '2' },
    ],
  },
];

const published = sharedPipeline(async () => {
  const pipeline = await PipelineUnderTest.create(new Date('2026-03-10T12:00:00Z'));
  await pipeline.landOffers('alpha', offers);
  await pipeline.refresh('2026-03-10T10:00:00Z');
  return pipeline;
});

it('are written with the snapshot, for their owner alone', slow, async () => {
  const pipeline = await published();
  const { data } = pipeline;
  const { head, offers: routes } = await readRoutes(data.currentRoutes);
  expect(head).toMatchObject({ snapshot_id: await currentName(data), as_of: '2026-03-10T10:00:00Z', offers: 2 });
  expect(routes.get(1)).toEqual({
    offer_id: 1,
    source: 'alpha',
    external_id: 'one',
    status: 'active',
    payout: '1.5',
    events: [],
    former: [],
    destination_url: destination,
    categories: [],
    formats: ['offerwall'],
    countries: ['DE'],
    devices: [],
    android_min_os: null,
    ios_min_os: null,
    daily_cap: 3,
    daily_click_cap: null,
  });
  expect(routes.get(2)).toMatchObject({
    payout: '2.25',
    events: [
      { event_id: 'install', payout: '0.25' },
      { event_id: 'level', payout: '2' },
    ],
  });
  expect(statSync(data.currentRoutes).mode & 0o777).toBe(0o600);
  expect(statSync(data.tracker).mode & 0o777).toBe(0o700);
});

it('follow each snapshot, keep gone offers, and leave nothing behind', async () => {
  const pipeline = await published();
  const { data } = pipeline;
  await pipeline.landOffers('alpha', offers.slice(1));
  await pipeline.refresh('2026-03-10T11:00:00Z');
  const { head, offers: routes } = await readRoutes(data.currentRoutes);
  expect(head.snapshot_id).toBe(await currentName(data));
  expect([routes.get(1)?.status, routes.get(2)?.status]).toEqual(['vanished', 'active']);
  expect(readdirSync(data.routes).toSorted()).toEqual([`${head.snapshot_id}.json`, 'current']);
});

it('say what an offer paid before, and until when, without what changed nothing of that', slow, async () => {
  const pipeline = await published();
  const { data } = pipeline;
  const [one, two] = offers as [object, { events: object[] }];
  await pipeline.landOffers('alpha', [{ ...one, title: 'Another title' }, two]);
  await pipeline.refresh('2026-03-10T11:00:00Z');
  await pipeline.landOffers('alpha', [
    { ...one, payout: '1' },
    { ...two, events: two.events.slice(1) },
  ]);
  await pipeline.refresh('2026-03-10T12:00:00Z');
  const { offers: routes } = await readRoutes(data.currentRoutes);
  const until = Date.parse('2026-03-10T12:00:00Z');
  expect(routes.get(1)).toMatchObject({ payout: '1', former: [{ until, payout: '1.5', events: [] }] });
  const before = [
    { event_id: 'install', payout: '0.25' },
    { event_id: 'level', payout: '2' },
  ];
  expect(routes.get(2)).toMatchObject({
    events: before.slice(1),
    former: [{ until, payout: '2.25', events: before }],
  });
});

it('that lead nowhere are reported by the refresh, with those that have no destination', async () => {
  const pipeline = await published();
  await pipeline.landOffers('alpha', [
    { ...offers[0], destination_url: 'nowhere' },
    { ...offers[1], destination_url: undefined },
    { external_id: 'three', id: 3, title: 'Three', payout: '1', status: 'paused' },
  ]);
  const { stderr } = await endOf(pipeline.data.root, 'run', 'refresh', '--as-of', '2026-03-10T11:00:00Z');
  const warnings = stderr.split('\n').filter((line) => line.includes('clicks are refused'));
  expect(warnings.map((line) => JSON.parse(line) as object)).toMatchObject([
    { offers: 1, first: [1], msg: 'the destination is no address: clicks are refused' },
    {
      offers: 1,
      first: [2],
      msg: 'active offers have no destination_url: their clicks are refused, or led to fallback_url',
    },
  ]);
});

it('with macros that nobody fills are reported with a remedy', async () => {
  const pipeline = await published();
  await pipeline.landOffers('alpha', [
    { ...offers[0], destination_url: 'https://advertiser.example/?c={CLICK_ID}' },
    { ...offers[1], destination_url: 'https://advertiser.example/?c={{click_id}}&k=[player]' },
  ]);
  const { stderr } = await endOf(pipeline.data.root, 'run', 'refresh', '--as-of', '2026-03-10T11:00:00Z');
  const notes = stderr.split('\n').filter((line) => line.includes('nobody fills'));
  expect(notes.map((line) => JSON.parse(line) as object)).toMatchObject([
    { first: [1], msg: 'nobody fills {CLICK_ID}, which stays: {click_id} is meant, perhaps' },
    { first: [2], msg: expect.stringContaining('nobody fills [player], which stays: tracker.sources.<source>.macros') },
  ]);
});

it('are written again by a refresh that finds nothing new, where they are missing or of another snapshot', async () => {
  const pipeline = await published();
  const { data } = pipeline;
  const snapshot = await currentName(data);
  rmSync(data.routes, { recursive: true });
  await pipeline.refresh('2026-03-10T10:00:00Z');
  expect(await currentName(data)).toBe(snapshot);
  expect((await readRoutes(data.currentRoutes)).head.snapshot_id).toBe(snapshot);
  writeFileSync(data.currentRoutes, '{"torn');
  await pipeline.refresh('2026-03-10T10:00:00Z');
  expect((await readRoutes(data.currentRoutes)).offers.size).toBe(2);
});

it('broken ones leave the last good ones, which is said and counted', async () => {
  const pipeline = await published();
  const { data } = pipeline;
  const lines: string[] = [];
  const follower = new RouteFollower(data, createLogger({ write: (line) => void lines.push(line) }));
  await follower.poll();
  expect(follower.route(1)?.daily_cap).toBe(3);
  const path = join(data.routes, `${await currentName(data)}.json`);
  const good = readFileSync(path, 'utf8');
  for (const broken of [good.replace('"daily_cap":3', '"daily_cap":4'), good.slice(0, -20), '', `${good}{}\n`]) {
    writeFileSync(path, broken);
    await follower.poll();
    expect(follower.route(1)?.daily_cap).toBe(3);
    expect(lines.at(-1)).toContain('the routes cannot be used');
  }
  expect(lines.join('')).not.toContain('advertiser.example');
  expect(follower.refused).toBe(4);
  rmSync(path);
  mkdirSync(path);
  await follower.poll();
  const before = lines.length;
  await follower.poll();
  // What the system refuses is tried again, and reported and counted once.
  expect([follower.refused, lines.length]).toEqual([5, before]);
  rmdirSync(path);
  await follower.poll();
  expect(follower.route(1)?.daily_cap).toBe(3);
  writeFileSync(path, good);
  chmodSync(path, 0o600);
  await follower.poll();
  expect(follower.refused).toBe(0);
  const read = lines.length;
  chmodSync(path, 0o640);
  await follower.poll();
  expect(lines.slice(read)).toEqual([expect.stringContaining('following routes')]);
});
