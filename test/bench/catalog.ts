import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { catalogOffers } from '../../src/demo/generate/network/catalog.ts';
import { forgetRuns, type Bench, type Measure } from './bench.ts';
import { measureProcess } from './measured-process.ts';
import { measureRefresh } from './measured-refresh.ts';
import { measureOf } from './rounds.ts';

const catalogSize = 50_000;
/** Of the second export: one offer in a hundred has another payout. */
const changedEvery = 100;

const firstAsOf = '2026-01-31T23:00:00Z';
const secondAsOf = '2026-01-31T23:30:00Z';
const bareRead = new URL('./bare-read.ts', import.meta.url);

/**
 * Refreshes, as processes, of a catalog of 50,000 offers and nothing else, and of its next export, in which one offer
 * in a hundred differs, each against DuckDB's bare read of the file, by processor time.
 */
export async function measureCatalog({ options, folder, signal }: Bench): Promise<Measure[]> {
  const data = new DataDirectory(join(folder, 'catalog'));
  const source = join(data.landing, 'offers', 'bench');
  await mkdir(source, { recursive: true });
  await writeFile(data.sitesFile, JSON.stringify({ sites: [] }));
  const offers = catalogOffers(options.seed, catalogSize, Date.parse(firstAsOf)).map((offer, index) => ({
    ...offer,
    source: undefined,
    external_id: `bench-${index}`,
    // Some have a payout of their milestones' sum only.
    payout: offer.payout ?? '1.00',
    currency: 'USD',
  }));
  const firstFile = join(source, '1.ndjson');
  const secondFile = join(source, '2.ndjson');
  const lines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const first = lines(offers);
  const second = lines(
    offers.map((offer, index) => (index % changedEvery === 0 ? { ...offer, payout: '9.87' } : offer)),
  );

  const read = async (file: string) => {
    const measured = await measureProcess(bareRead, [data.root, file], { signal });
    const { rows } = JSON.parse(measured.output) as { rows: number };
    if (rows !== catalogSize) throw new Error(`the bare read saw ${rows} offers, ${catalogSize} were written`);
    return measured;
  };
  const ratio = async (asOf: string, file: string) =>
    (await measureRefresh(data, asOf, { clicks: 0 }, signal)).cpuSeconds / (await read(file)).cpuSeconds;
  const ratios: Record<'first' | 'changed', number[]> = { first: [], changed: [] };
  for (let round = 1; round <= options.rounds; round++) {
    await forgetRuns(data);
    await rm(secondFile, { force: true });
    await writeFile(firstFile, first);
    ratios.first.push(await ratio(firstAsOf, firstFile));
    await writeFile(secondFile, second);
    ratios.changed.push(await ratio(secondAsOf, secondFile));
  }
  return [
    measureOf(`catalog of ${catalogSize} offers, first / bare read, by processor time`, ratios.first, '<= 15'),
    measureOf('the same with 1 % of the offers changed', ratios.changed, '<= 10'),
  ];
}
