import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { quotedList } from '../../../src/kit/text/sql-text.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import { generateLogs, historyEnd, type Bench, type Measure } from '../bench.ts';
import { inTurns, measureOf, type Pair } from '../rounds.ts';
import { measureLatencies } from './latency.ts';
import type { Load } from './load.ts';
import { defaultPages, pathOf, randomFilters } from './requests.ts';
import {
  generateLargeCatalog,
  publishForServing,
  publishRuledSites,
  ruleGroups,
  type ServingData,
} from './serving-data.ts';
import { Stand, type Server } from './stand.ts';

/** Of every load but the cold ones, which end with their parameter sets. */
const seconds = 2;
/** Until the just-in-time compiler has seen all it needs. */
const warmUpSeconds = 1.5;

/** The service under load: default pages and look-ups on the bench's own clicks, filters on a large catalog. */
export async function measureServing(bench: Bench): Promise<Measure[]> {
  const { terminal, options, signal } = bench;
  const stand = new Stand(signal);
  try {
    if (!stand.pinned) terminal.logger.warn('server and client share the cores: that takes two of them and `taskset`');
    const logs = await generateLogs(bench, 'serve-history', { ...options, end: historyEnd });
    const history = await publishForServing(logs, signal);
    const pages = await measureDefaultPages(bench, stand, history);
    const lookups = await measureLookups(bench, stand, history);
    const catalog = await publishForServing(await generateLargeCatalog(bench), signal);
    const filters = await measureFilters(bench, stand, catalog);
    const rules = await measureRules(bench, stand, catalog);
    return [...pages, ...filters, ...rules, lookups, ...(await measureLatencies(bench, stand, catalog))];
  } finally {
    await stand.close();
  }
}

/** Default pages of B and C, and the reports, of all sites in turns. */
async function measureDefaultPages({ options }: Bench, stand: Stand, { data, sites }: ServingData): Promise<Measure[]> {
  const service = await stand.serve(data);
  const measures: Measure[] = [];
  for (const [name, base] of Object.entries(defaultPages)) {
    const paths = sites.map((site) => pathOf(base, site));
    const constant = await constantOf(stand, await stand.load(service, { paths, seconds: warmUpSeconds }));
    const rounds = await inTurns(options.rounds, () => stand.load(service, { paths, seconds }), constant.load);
    await stand.stop(constant.server);
    measures.push(ofConstant(name, rounds, base === defaultPages['reports of C'] ? 0.7 : 0.6));
  }
  await stand.stop(service);
  return measures;
}

/** Parameter sets of a round: their pages fit into the service's cache together with those of the round before. */
const filtersPerRound = 1_000;

/** Random filters, each asked the first time, and again. */
async function measureFilters({ options }: Bench, stand: Stand, { data, sites }: ServingData): Promise<Measure[]> {
  const service = await stand.serve(data);
  const all = randomFilters(options.seed, sites, filtersPerRound * (options.rounds + 1));
  const filtersOf = (round: number) => all.slice(round * filtersPerRound, (round + 1) * filtersPerRound);
  const ask = (round: number) => stand.load(service, { paths: filtersOf(round), requests: filtersPerRound });
  const constant = await constantOf(stand, await ask(0));
  let round = 0;
  const cold = await inTurns(options.rounds, () => ask(++round), constant.load);
  const paths = filtersOf(options.rounds);
  const warm = await inTurns(options.rounds, () => stand.load(service, { paths, seconds }), constant.load);
  for (const server of [service, constant.server]) await stand.stop(server);
  return [
    ofConstant('random filters, each the first time,', cold, 0.1),
    ofConstant('random filters, again,', warm, 0.5),
  ];
}

/** Default pages of C of many sites, whose rules differ by groups, against those of as many sites without rules. */
async function measureRules({ options, signal }: Bench, stand: Stand, catalog: ServingData): Promise<Measure[]> {
  const { ruled, free } = await publishRuledSites(catalog, signal);
  const service = await stand.serve(catalog.data);
  const load = (sites: ServingData['sites']) => {
    const paths = sites.map((site) => pathOf(defaultPages['default page of C'], site));
    return () => stand.load(service, { paths, seconds });
  };
  const [loadRuled, loadFree] = [load(ruled), load(free)];
  for (const warmUp of [loadRuled, loadFree]) await warmUp();
  const rounds = await inTurns(options.rounds, loadRuled, loadFree);
  await stand.stop(service);
  const perSecond = ({ requests, seconds: took }: Load) => requests / took;
  const ratios = rounds.map(({ first, second }) => perSecond(first) / perSecond(second));
  const name = `${ruled.length} sites in ${ruleGroups} groups of rules / as many without rules, requests a second`;
  return [measureOf(name, ratios, '>= 0.5')];
}

/** Fastify sending a constant buffer of the mean size of a load's bodies, warm. */
async function constantOf(
  stand: Stand,
  { bodyBytes, requests }: Load,
): Promise<{ server: Server; load: () => Promise<Load> }> {
  const size = Math.round(bodyBytes / requests);
  const server = await stand.constant([size]);
  const paths = [`/${size}`];
  await stand.load(server, { paths, seconds: warmUpSeconds });
  return { server, load: () => stand.load(server, { paths, seconds }) };
}

function ofConstant(name: string, rounds: readonly Pair<Load, Load>[], aim: number): Measure {
  const perSecond = ({ requests, seconds: took }: Load) => requests / took;
  const ratios = rounds.map(({ first, second }) => perSecond(first) / perSecond(second));
  return measureOf(`${name} / a constant buffer, requests a second`, ratios, `>= ${aim}`);
}

/** Variant A lets a site look up 600 clicks a minute. */
const maxLookups = 500;
const lookupsPerRound = 100;
/** The first look-up of a process may have it read what history holds. Milliseconds. */
const learning = 3_000;

/** Clicks picked all over history, every second one with a conversion, each looked up once, one after the other. */
async function measureLookups(
  { options, signal }: Bench,
  stand: Stand,
  { data, clicks, sites }: ServingData,
): Promise<Measure> {
  const perRound = Math.min(lookupsPerRound, Math.floor(maxLookups / (options.rounds + 1)));
  const siteKeys = sites.filter(({ variant }) => variant === 'A').map(({ site_key }) => site_key);
  const paths = await lookupPaths(data.current, siteKeys, perRound * (options.rounds + 1));
  const service = await stand.serve(data);
  await stand.one(service, paths.splice(0, perRound));
  await setTimeout(learning, undefined, { signal });
  const medians: number[] = [];
  for (let round = 0; round < options.rounds; round++)
    medians.push((await stand.one(service, paths.splice(0, perRound))).p50);
  await stand.stop(service);
  return measureOf(`click look-up among ${clicks}, median`, medians, '<= 20', ' ms');
}

async function lookupPaths(folder: string, siteKeys: readonly string[], count: number): Promise<string[]> {
  return withDuckDB(join(folder, analyticsFile), readOnly, async (connection) => {
    const rows = await queryRows<{ click_id: string; site_key: string }>(
      connection,
      `WITH known AS (
         SELECT click_id, site_key, click_id IN (SELECT click_id FROM conversions) AS converted FROM clicks
         WHERE site_key IN (${quotedList(siteKeys).slice(1, -1)})
       )
       SELECT click_id, site_key FROM known
       ORDER BY row_number() OVER (PARTITION BY converted ORDER BY hash(click_id)) LIMIT ${count}`,
    );
    return rows.map((row) => `/a/api/click-lookup?${new URLSearchParams(row).toString()}`);
  });
}
