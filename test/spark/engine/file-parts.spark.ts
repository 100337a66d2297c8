import { afterAll, expect, it } from 'vitest';
import { Random } from '../../../src/demo/generate/network/random.ts';
import { longLineBytes } from '../../../src/kit/intake/reading/text-check.ts';
import { differences } from '../../fault/lives/published-tables.ts';
import { click, csv, LogLanding } from '../../support/log-landing.ts';
import { ingested } from './same-as-duckdb.ts';
import { SharedDriver } from './shared-driver.ts';

/** Files are read in parts of so many bytes, by several tasks, which begin and end within lines. */
const partBytes = 700;
const shared = await SharedDriver.start({
  'spark.sql.files.maxPartitionBytes': String(partBytes),
  'spark.sql.files.openCostInBytes': '100',
});
afterAll(() => shared[Symbol.asyncDispose]());

it('rejects keep their lines and the first of equal events wins, in whatever parts a file is read', async () => {
  const random = new Random(5);
  const line = (): string | object => {
    const id = `c${Math.floor(random.next() * 150)}`;
    return random.pick<() => string | object>([
      () => click(id, { sub1: 'x' }),
      () => click(id, { sub1: 'y', user_agent: 'ä'.repeat(50) }),
      () => click(id),
      () => JSON.stringify(click(id), null, 1).replaceAll('\n', ''),
      () => `bad ${Math.floor(random.next() * 9)}`,
      () => click(id, { clicked_at: 'noon' }),
      () => '',
      () => ({ ...click(id), source: null, sub1: null }),
      () => JSON.stringify({ ...click(id), source: null }).replace('null', 'null,"source":"s"'),
      () => JSON.stringify({ ...click(id), user_id: null, sub2: 'null' }),
      () => click(id, { user_agent: 'long'.repeat(longLineBytes / 4) }),
      () => `long ${'bad'.repeat(longLineBytes / 3)}`,
    ])();
  };
  const files = ['a', 'b', 'c'].map((name) => ({ name, lines: Array.from({ length: 120 }, line) }));
  const found: Map<string, string[]>[] = [];
  for (const engine of [undefined, shared.engine]) {
    await using landing = await LogLanding.create();
    for (const { name, lines } of files) await landing.putAt(`clicks/${name}.ndjson`, lines, '2026-11-18T11:00:00Z');
    const cells = Array.from({ length: 60 }, (_, index) => click(`c${index * 7}`, { user_id: index % 9 ? 'u' : '' }));
    await landing.putAt('clicks/d.csv', csv(cells), '2026-11-18T11:00:00Z');
    await landing.ingest({}, { engine });
    found.push(await ingested(landing));
  }
  const [byDuckdb = new Map<string, string[]>(), bySpark = new Map<string, string[]>()] = found;
  expect(byDuckdb.get('rejects')?.length).toBeGreaterThan(60);
  expect(differences(byDuckdb, bySpark)).toEqual([]);
});
