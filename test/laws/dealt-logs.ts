import fc from 'fast-check';
import { Random } from '../../src/demo/generate/network/random.ts';
import { smallNetwork, type SmallNetwork } from '../support/generated-network.ts';
import { logFormats, type LandingRow, type LogFormat } from '../support/log-files.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';

/** Input of the laws of logs: sites, a catalog of several sources, and three days of traffic. */
export const network: SmallNetwork = smallNetwork(11, { clicks: 1500, days: 3, end: new Date('2026-03-10T13:37:00Z') });

/** Every offer with a public id of its own, so that none depends on when it was first seen. */
export const offers: LandingRow[] = network.offers.map((offer, index) => ({ ...offer, id: offer.id ?? 5000 + index }));

/** Cut of logs into runs and files. */
export interface Deal {
  /** Decides where each event goes and in which order the events of a file stand. */
  seed: number;
  /** One file for each, of one log, landed before that run. */
  files: { run: number; kind: 'clicks' | 'conversions'; format: LogFormat }[];
  /** Number of ten events that are in a second file, too. */
  repeatedOfTen: number;
}

/** Deals over exactly `runs` runs, in which each log has a file of every run or of none but the last. */
export function arbitraryDeal(runs: number): fc.Arbitrary<Deal> {
  const file = fc.record({
    run: fc.nat({ max: runs - 1 }),
    kind: fc.constantFrom('clicks' as const, 'conversions' as const),
    format: fc.constantFrom(...logFormats),
  });
  return fc.record({
    seed: fc.nat(),
    files: fc.array(file, { maxLength: 5 }).map((files) => [
      ...files,
      // Whatever else is dealt, each log has somewhere to go.
      { run: runs - 1, kind: 'clicks' as const, format: 'ndjson' as const },
      { run: 0, kind: 'conversions' as const, format: 'csv' as const },
    ]),
    repeatedOfTen: fc.nat({ max: 4 }),
  });
}

/** Lands what the deal has for one run, each row as it is `written`. */
export async function landDealt(
  pipeline: PipelineUnderTest,
  { seed, files, repeatedOfTen }: Deal,
  run: number,
  written: (row: LandingRow, random: Random) => LandingRow = (row) => row,
): Promise<void> {
  const hands = files.map((file) => ({ ...file, rows: [] as LandingRow[] }));
  const random = new Random(seed);
  for (const kind of ['clicks', 'conversions'] as const) {
    const ofKind = hands.filter((hand) => hand.kind === kind);
    for (const event of network[kind]) {
      random.pick(ofKind).rows.push(written({ ...event }, random));
      if (random.next() * 10 < repeatedOfTen) random.pick(ofKind).rows.push(written({ ...event }, random));
    }
  }
  for (const { run: landedBefore, kind, format, rows } of hands) {
    const shuffled = random.shuffle(rows);
    if (landedBefore === run) await pipeline.landLog(kind, format, shuffled);
  }
}

export async function landCatalog(
  pipeline: PipelineUnderTest,
  which: (source: string) => boolean = () => true,
): Promise<void> {
  for (const [source, exported] of Map.groupBy(offers, (offer) => offer['source'] as string)) {
    if (which(source))
      await pipeline.landOffers(
        source,
        exported.map(({ source: _folder, ...offer }) => offer),
      );
  }
}

/** A pipeline with the network's settings and sites, and a clock after all of its traffic. */
export function networkPipeline(settings: object = {}): Promise<PipelineUnderTest> {
  return PipelineUnderTest.create(new Date('2026-03-20T00:00:00Z'), {
    settings: { ...network.settings, ...settings },
    sites: network.sites,
  });
}
