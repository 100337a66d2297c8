import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import {
  comparedFiles,
  ConfigurationComparison,
  digestConfiguration,
} from '../../../src/fleet/storage/configuration.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

const secret = 'a-secret-that-nobody-must-see';
const site = { site_key: 's', site_secret: secret };
const sources = [{ source: 'one', time_zone: 'UTC', secrets: { token: { env: 'TOKEN' } } }];

let one: DataDirectory;
let other: DataDirectory;

async function write(data: DataDirectory, own: { sites?: object; sources?: object; settings?: object } = {}) {
  await mkdir(data.root, { recursive: true });
  await writeFile(data.sitesFile, JSON.stringify({ sites: [{ ...site, ...own.sites }] }));
  await writeFile(data.sourcesFile, JSON.stringify({ sources, ...own.sources }));
  await writeFile(data.settingsFile, JSON.stringify({ rates: { EUR: '1.08' }, ...own.settings }));
}

beforeEach(async () => {
  [one, other] = (await Promise.all(
    [1, 2].map(async () => {
      const { data, remove } = await temporaryData();
      onTestFinished(remove);
      await write(data);
      return data;
    }),
  )) as [DataDirectory, DataDirectory];
});

it('equal files have equal digests, whatever their spelling, ports and places of secrets', async () => {
  const published = await digestConfiguration(one);
  await writeFile(other.sitesFile, JSON.stringify({ sites: [{ status: 'active', ...site }] }, null, 2));
  await write(other, {
    sources: { sources: [{ secrets: { token: { file: '/run/token' } }, time_zone: 'UTC', source: 'one' }] },
    settings: { port: 9000, storage: { url: 's3://bucket/network' } },
  });
  expect(await new ConfigurationComparison(other).differing(published)).toEqual([]);
  expect(await new ConfigurationComparison(other).differing(undefined)).toEqual([]);
  expect(JSON.stringify(published)).not.toContain(secret);
  // With another salt nothing can be looked up in what another network published.
  expect((await digestConfiguration(one)).files).not.toEqual(published.files);
});

it.each([
  ['sites.json', { sites: { site_secret: 'another-secret' } }],
  ['sites.json', { sites: { commission: 0.5 } }],
  ['sources.json', { sources: { sources: [{ ...sources[0], time_zone: '+02:00' }] } }],
  ['offerline.json', { settings: { rates: { EUR: '1.09' } } }],
  ['offerline.json', { settings: { hide_capped_offers: true } }],
  ['offerline.json', { settings: { logs: { clicks: { time_zone: 'UTC' } } } }],
])('%s that differs by %j is named, until it is changed', async (name, own) => {
  const published = await digestConfiguration(one);
  await write(other, own);
  const comparison = new ConfigurationComparison(other);
  expect(await comparison.differing(published)).toEqual([name]);
  await write(other);
  // A change of the same length within one tick of the file system's clock.
  for (const file of [other.sitesFile, other.sourcesFile, other.settingsFile]) await utimes(file, 1, 2);
  expect(await comparison.differing(published)).toEqual([]);
});

it('a file that is missing or broken on one machine differs, and is no error here', async () => {
  const published = await digestConfiguration(one);
  await rm(other.sourcesFile);
  await writeFile(other.sitesFile, 'none');
  expect(await new ConfigurationComparison(other).differing(published)).toEqual(['sites.json', 'sources.json']);
  expect(comparedFiles).toEqual(['sites.json', 'sources.json', 'offerline.json']);
});
