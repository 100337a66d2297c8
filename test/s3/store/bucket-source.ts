import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import { bucketName } from './moto.ts';

export const secrets = { access_key_id: 'AKIAOFFERLINETEST000', secret_access_key: 'very/secret+key/of/the/tests' };
const lists = { clicks: 'clicks/', conversions: 'conversions/', offers: 'offers/' };

/** A data directory whose one source is the bucket at that address. */
export async function bucketData(
  url: string,
  { prefixes = lists, keys = secrets }: { prefixes?: Partial<typeof lists>; keys?: object } = {},
): Promise<{ data: DataDirectory; remove: () => Promise<void> }> {
  const temporary = await temporaryData();
  await declareBucket(temporary.data, url, { prefixes, keys });
  return temporary;
}

export async function declareBucket(
  data: DataDirectory,
  url: string,
  { prefixes = lists, keys = secrets }: { prefixes?: Partial<typeof lists>; keys?: object } = {},
): Promise<void> {
  const s3 = { bucket: bucketName, ...prefixes };
  const source = { source: 'logs', connector: 's3', base_url: url, secrets: keys, s3 };
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [source] }), { mode: 0o600 });
}

/** What the source's clicks folder holds, by name. */
export async function landedClicks(data: DataDirectory): Promise<Map<string, Buffer>> {
  const folder = join(data.landing, 'clicks/logs');
  const names = await readdir(folder).catch((): string[] => []);
  return new Map(
    await Promise.all(names.toSorted().map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}
