import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDuckDB, type OpenDuckDB } from '../../../src/kit/duckdb/open.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { openAnalytics } from '../../../src/pipeline/snapshot/movable-files.ts';

const rows = 400_000;
/** Forty megabytes that differ by the number, in order. */
const sorted = (number: number) =>
  `SELECT count(*)::INTEGER AS sorted, bit_xor(hash(text))::VARCHAR AS digest
   FROM (SELECT repeat(md5((range + ${number * rows})::VARCHAR), 3) AS text FROM range(${rows}) ORDER BY text)`;

async function snapshotFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'spilled-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  (await openDuckDB(join(folder, 'analytics.duckdb'))).close();
  return folder;
}

it('queries that need more memory than they may have spill outside of the snapshot, each database by itself', async () => {
  const folder = await snapshotFolder();
  const open = () => openAnalytics(folder, { memory_limit: '32MiB', threads: '1' });
  const ask = ({ connection }: OpenDuckDB, number: number) => queryRows(connection, sorted(number));
  const one = await open();
  const alone = await ask(one, 1);
  expect(readdirSync(folder)).toEqual(['analytics.duckdb']);
  const other = await open();
  const places = [one, other].map(({ connection }) =>
    queryRows<{ spill: string }>(connection, "SELECT current_setting('temp_directory') AS spill"),
  );
  const [[ofOne], [ofOther]] = (await Promise.all(places)) as [{ spill: string }[], { spill: string }[]];
  expect(ofOne?.spill).not.toBe(ofOther?.spill);
  expect(await Promise.all([ask(one, 1), ask(other, 2)])).toEqual([
    alone,
    [{ sorted: rows, digest: expect.any(String) as string }],
  ]);
  one.close();
  other.close();
  const ours = new RegExp(`^offerline-query-${process.pid}-`);
  expect(readdirSync(tmpdir()).filter((name) => ours.test(name))).toEqual([]);
});
