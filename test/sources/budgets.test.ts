import { expect, it, onTestFinished } from 'vitest';
import { fetchingOf } from '../../pipelines/ask-sources.ts';
import { pullSources } from '../../pipelines/pull.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { BegunRequests } from '../../src/sources/http/begun-requests.ts';
import { Budgets } from '../../src/sources/http/budget.ts';
import { HttpExchanges } from '../../src/sources/http/exchange.ts';
import { openPullDatabase, openPullMemory } from '../../src/sources/pull-database.ts';
import { resolveSource } from '../../src/sources/resolve-source.ts';
import { clockFrom, dataWith, serve, terminal } from '../support/declared-network.ts';

const http = (base_url: string, secrets: object, budget?: object) => ({
  connector: 'http',
  base_url,
  secrets,
  offers: { fields: { external_id: 'id' }, budget },
});
const north = 'https://north.example';

it.each<[what: string, isShared: boolean, one: object, other: object]>([
  ['one host and one secret', true, http(`${north}/a`, { key: 'k3y' }), http(`${north}/b`, { token: 'k3y' })],
  ['one host and two secrets', false, http(north, { key: 'k3y' }), http(north, { key: 'k3z' })],
  ['one host without secrets', false, http(north, {}), http(north, {})],
  ['two hosts', false, http(north, { key: 'k3y' }), http('https://south.example', { key: 'k3y' })],
  [
    'one account with limits of their own',
    false,
    http(north, { key: 'k3y' }),
    http(north, { key: 'k3y' }, { requests: 1, seconds: 600 }),
  ],
  [
    'a known network and one account',
    true,
    { connector: 'everflow', secrets: { api_key: 'k3y' } },
    { connector: 'everflow', secrets: { api_key: 'k3y' }, pull: ['conversions'] },
  ],
])('sources of %s share a budget: %s', async (_what, isShared, one, other) => {
  const { sources } = readSources(await dataWith({ source: 'one', ...one }, { source: 'other', ...other }));
  const clock = clockFrom(0);
  const exchanges = new HttpExchanges();
  onTestFinished(() => exchanges.close());
  const asking = {
    terminal,
    exchanges,
    budgets: new Budgets(clock, new BegunRequests(openPullMemory())),
    stop: new AbortController().signal,
    clock,
  };
  const [first, second] = sources.map((entry) => {
    const source = resolveSource(entry);
    const stream = (source?.offers ?? source?.conversions)?.stream;
    if (source === undefined || stream === undefined) throw new Error('no list');
    return fetchingOf(source, asking).budgetOf(stream.budget);
  });
  expect(first === second).toBe(isShared);
});

it('the lists of a source keep the limit of each', async () => {
  const conversions = {
    budget: { requests: 1, seconds: 30 },
    fields: {
      conversion_id: 'id',
      click_id: 'sub',
      status: { at: 's', words: { ok: 'credit' } },
      occurred_at: { at: 'at', time: 'epoch_s' },
    },
  };
  const offers = { budget: { requests: 1, seconds: 600 }, fields: { external_id: 'id' } };
  const { sources } = readSources(
    await dataWith({ source: 'a', connector: 'http', base_url: north, offers, conversions }),
  );
  const source = resolveSource(sources[0] as (typeof sources)[0]);
  let now = 0;
  const clock = { now: () => now, steady: () => now, wait: async (ms: number) => void (now += ms), random: () => 0.5 };
  const budgets = new Budgets(clock, new BegunRequests(openPullMemory()));
  const { signal } = new AbortController();
  const twice = async (limit: { requests: number; seconds: number } | undefined) => {
    if (source === undefined || limit === undefined) throw new Error('no list');
    const begun = now;
    const budget = budgets.of('north.example', source.account, limit);
    await budget.take(signal);
    await budget.take(signal);
    return (now - begun) / 1000;
  };
  expect(await twice(source?.offers?.stream.budget)).toBe(600);
  expect(await twice(source?.conversions?.stream.budget)).toBe(30);
});

it.each([
  ['back', -3_600_000],
  ['ahead', 3_600_000],
])('a budget and a pause last as long as they may where the clock is set %s', async (_where, by) => {
  let wall = Date.parse('2026-11-20T12:00:00Z');
  let steady = 0;
  const wait = async (milliseconds: number) => {
    wall += milliseconds;
    steady += milliseconds;
  };
  const clock = { now: () => wall, steady: () => steady, wait, random: () => 0.5 };
  const budgets = new Budgets(clock, new BegunRequests(openPullMemory()));
  const budget = budgets.of('host', 'account', { requests: 1, seconds: 30 });
  const { signal } = new AbortController();
  await budget.take(signal);
  wall += by;
  await budget.take(signal);
  expect(steady).toBe(30_000);
  budget.pause(90_000);
  wall += by;
  await budget.take(signal);
  expect(steady).toBe(120_000);
});

it('processes share a budget and a pause, which end with the clock since the start', async () => {
  const data = await dataWith();
  let now = 1_000_000;
  const clock = { now: () => now, steady: () => now, wait: async (ms: number) => void (now += ms), random: () => 0.5 };
  const limit = { requests: 2, seconds: 30 };
  const budgetOfProcess = () => {
    const begun = new BegunRequests(openPullDatabase(data));
    onTestFinished(() => begun[Symbol.dispose]());
    return new Budgets(clock, begun).of('north.example', 'account', limit);
  };
  const { signal } = new AbortController();
  const [one, other] = [budgetOfProcess(), budgetOfProcess()];
  const waited = async (budget: typeof one) => {
    const begun = now;
    await budget.take(signal);
    return now - begun;
  };
  expect([await waited(one), await waited(other), await waited(one), await waited(budgetOfProcess())]).toEqual([
    0, 0, 30_000, 0,
  ]);
  one.pause(90_000);
  other.pause(1000);
  expect(await waited(other)).toBe(90_000);
  one.pause(90_000);
  // The machine starts again.
  now = 1000;
  expect([await waited(other), await waited(one)]).toEqual([0, 0]);
});

it('a scheduled pull counts what earlier ones have asked of the account, one by hand does not', async () => {
  const url = await serve(() => JSON.stringify([{ id: '1' }]));
  const own = http(url, { key: 'k3y' }, { requests: 1, seconds: 600 });
  const data = await dataWith({ source: 'one', ...own }, { source: 'other', ...own });
  const clock = clockFrom(Date.parse('2026-11-20T12:00:00Z'));
  const begun = clock.steady();
  const pull = (name: string, scheduled: boolean) =>
    pullSources({ data, terminal, names: [name], scheduled }, realEffects, clock);
  expect(await pull('one', true)).toMatchObject([{ status: 'done' }]);
  expect(await pull('one', false)).toMatchObject([{ status: 'done' }]);
  expect(clock.steady() - begun).toBeLessThan(600_000);
  expect(await pull('other', true)).toMatchObject([{ status: 'done' }]);
  expect(clock.steady() - begun).toBeGreaterThanOrEqual(600_000);
});
