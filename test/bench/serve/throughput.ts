import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import type { Bench } from '../bench.ts';
import { inTurns, type Pair } from '../rounds.ts';
import { defaultPages, pathOf, randomFilters } from './requests.ts';
import type { ServingData } from './serving-data.ts';
import type { MeasuredLoad, Server, Stand } from './stand.ts';

/** The service (first), and Fastify sending a constant buffer of the same mean size (second). */
export interface Throughput {
  name: string;
  bodyBytes: number;
  aim?: number;
  rounds: Pair<MeasuredLoad, MeasuredLoad>[];
}

export const aims = { defaultPage: 0.6, reports: 0.7, cold: 0.1, warm: 0.5 };

/** Of every load but the cold ones, which end with their parameter sets. */
const seconds = 2;
/** Until the just-in-time compiler has seen all it needs. */
const warmUpSeconds = 1.5;
/** Parameter sets of a round: their pages fit into the service's cache together with those of the round before. */
const filtersPerRound = 1_000;
/** How many answers of the DuckDB server are compared with the service's. */
const compared = 25;

/** Default pages of B and C, and the reports, of all sites in turns. */
export async function measureDefaultPages(
  { options, terminal }: Bench,
  stand: Stand,
  { data, sites }: ServingData,
): Promise<Throughput[]> {
  const service = await stand.serve(data);
  const measures: Throughput[] = [];
  for (const [name, base] of Object.entries(defaultPages)) {
    const paths = sites.map((site) => pathOf(base, site));
    const bodyBytes = meanBytes(await stand.load(service, { paths, seconds: warmUpSeconds }));
    const constant = await warmConstant(stand, bodyBytes);
    const rounds = await inTurns(
      options.rounds,
      () => stand.load(service, { paths, seconds }),
      () => constant.load(),
      logged(terminal, name, options.rounds),
    );
    await stand.stop(constant.server);
    measures.push({
      name,
      bodyBytes,
      aim: base === defaultPages['reports of C'] ? aims.reports : aims.defaultPage,
      rounds,
    });
  }
  await stand.stop(service);
  return measures;
}

/** Random filters: cold, warm, and by a query per request. */
export async function measureFilters(
  { options, terminal }: Bench,
  stand: Stand,
  { data, sites }: ServingData,
): Promise<Throughput[]> {
  const service = await stand.serve(data);
  const all = randomFilters(options.seed, sites, filtersPerRound * (options.rounds + 1));
  const filtersOf = (round: number) => all.slice(round * filtersPerRound, (round + 1) * filtersPerRound);
  const bodyBytes = meanBytes(await stand.load(service, { paths: filtersOf(0), requests: filtersPerRound }));
  const constant = await warmConstant(stand, bodyBytes);

  let round = 0;
  const cold = await inTurns(
    options.rounds,
    () => {
      round++;
      return stand.load(service, { paths: filtersOf(round), requests: filtersPerRound });
    },
    () => constant.load(),
    logged(terminal, 'random filters, cold', options.rounds),
  );
  const paths = filtersOf(options.rounds);
  const warm = await inTurns(
    options.rounds,
    () => stand.load(service, { paths, seconds }),
    () => constant.load(),
    logged(terminal, 'random filters, warm', options.rounds),
  );

  const querying = await stand.duckdb(join(data.current, analyticsFile));
  await compareAnswers(service, querying, paths.slice(0, compared));
  await stand.load(querying, { paths, seconds: warmUpSeconds });
  const queried = await inTurns(
    options.rounds,
    () => stand.load(querying, { paths, seconds }),
    () => constant.load(),
    logged(terminal, 'random filters by DuckDB', options.rounds),
  );
  for (const server of [service, constant.server, querying]) await stand.stop(server);
  return [
    { name: 'random filters, cold', bodyBytes, aim: aims.cold, rounds: cold },
    { name: 'random filters, warm', bodyBytes, aim: aims.warm, rounds: warm },
    { name: 'random filters, a DuckDB query each', bodyBytes, rounds: queried },
  ];
}

async function warmConstant(
  stand: Stand,
  bodyBytes: number,
): Promise<{ server: Server; load: () => Promise<MeasuredLoad> }> {
  const server = await stand.constant([bodyBytes]);
  const paths = [`/${bodyBytes}`];
  await stand.load(server, { paths, seconds: warmUpSeconds });
  return { server, load: () => stand.load(server, { paths, seconds }) };
}

function meanBytes({ bodyBytes, requests }: MeasuredLoad): number {
  return Math.round(bodyBytes / requests);
}

/** What is contrasted has to do the same work: the same offers at the same prices, whatever the addresses in them. */
async function compareAnswers(service: Server, querying: Server, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const [ours, theirs] = await Promise.all(
      [service, querying].map(async ({ address }) => comparable(await (await fetch(address + path)).json())),
    );
    if (!isDeepStrictEqual(ours, theirs))
      throw new Error(
        `the DuckDB server answers ${path.replace(/site_secret=[^&]*&?/, '')} otherwise than the service; change its query with the service`,
      );
  }
}

function comparable(document: unknown): object {
  const { offers, ...counts } = document as { offers: Record<string, unknown>[] };
  return { ...counts, offers: offers.map(({ image: _image, tracking_url: _link, ...offer }) => offer) };
}

function logged(terminal: Bench['terminal'], name: string, rounds: number) {
  return (round: number, { first, second }: Pair<MeasuredLoad, MeasuredLoad>) => {
    const perSecond = ({ requests, seconds: took }: MeasuredLoad) => Math.round(requests / took);
    terminal.logger.info(
      { per_second: perSecond(first), constant_per_second: perSecond(second) },
      `${name}: round ${round} of ${rounds}`,
    );
  };
}
