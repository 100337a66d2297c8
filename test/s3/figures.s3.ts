import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryData } from '../support/published-snapshot.ts';
import { command } from '../support/commands.ts';
import { bucketName, Moto } from './store/moto.ts';
import { secrets } from './store/bucket-source.ts';

const example = join(import.meta.dirname, '../../data/example');
const asOf = '2026-11-18T12:00:00Z';

/** Of each offer, as CSV. */
async function figures(root: string): Promise<string> {
  await command(root, 'run', 'refresh', '--as-of', asOf);
  const query = `SELECT * EXCLUDE (offer_id), source, external_id
    FROM offer_stats_2d JOIN offers USING (offer_id) ORDER BY source, external_id`;
  return command(root, 'sql', query, '--format', 'csv');
}

it('a network whose files come from a bucket has the figures that it has from its folder', async () => {
  const [from, to] = [await temporaryData(), await temporaryData()];
  onTestFinished(from.remove);
  onTestFinished(to.remove);
  for (const { data } of [from, to]) await cp(example, data.root, { recursive: true });
  await rm(to.data.landing, { recursive: true });
  await mkdir(to.data.landing);

  await using moto = await Moto.start();
  await moto.createBucket();
  const files = await readdir(from.data.landing, { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    await moto.put(path.slice(from.data.landing.length + 1), await readFile(path));
  }
  const sources = (await readdir(join(from.data.landing, 'offers'))).map((source, index) => ({
    source,
    connector: 's3',
    base_url: moto.url,
    secrets,
    s3: {
      bucket: bucketName,
      offers: `offers/${source}/`,
      ...(index === 0 ? { clicks: 'clicks/', conversions: 'conversions/' } : {}),
    },
  }));
  await writeFile(to.data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  const pulled = JSON.parse(await command(to.data.root, 'sources', 'pull', '--json')) as {
    sources: { records: number }[];
  };
  expect(pulled.sources.reduce((sum, { records }) => sum + records, 0)).toBe(8);

  const expected = await figures(from.data.root);
  expect(expected.trimEnd().split('\n').length).toBeGreaterThan(3);
  expect(await figures(to.data.root)).toEqual(expected);
});
