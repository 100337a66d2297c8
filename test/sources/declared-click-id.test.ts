import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { dataWith, serve, terminal } from '../support/declared-network.ts';

const declared = (base_url: string, click_id: unknown) => ({
  source: 'mine',
  connector: 'http',
  base_url,
  offers: { click_id, fields: { external_id: 'id', title: 'name', payout: 'pays', destination_url: 'link' } },
});

it.each([
  [{ parameter: 'subid' }, ['https://t.example/1?u=[UID]&subid={click_id}', 'https://t.example/2?subid={click_id}']],
  [{ macro: '[UID]' }, ['https://t.example/1?u={click_id}', 'https://t.example/2?subid=x']],
])('links of a declared network take our click id by %j', async (click_id, expected) => {
  const links = ['https://t.example/1?u=[UID]', 'https://t.example/2?subid=x'];
  const offers = [...links.map((link, id) => ({ id, name: 'One', pays: 1, link })), { id: 9, name: 'None', pays: 1 }];
  const data = await dataWith(declared(await serve(() => JSON.stringify(offers)), click_id));
  await pullSources({ data, terminal });
  const folder = join(data.landing, 'offers', 'mine');
  const [name = ''] = await readdir(folder);
  const lines = (await readFile(join(folder, name), 'utf8')).trim().split('\n');
  const destinations = lines.map((line) => (JSON.parse(line) as { destination_url?: string }).destination_url);
  expect(destinations).toEqual([...expected, undefined]);
});

it.each([{ parameter: '' }, { macro: 'x' }, { parameter: 'a', macro: '{b}' }, 'aff_sub'])(
  'a place of the click id that is none, %j, is named',
  async (click_id) => {
    const data = await dataWith(declared('https://t.example', click_id));
    expect(() => readSources(data)).toThrow(/offers\.click_id/);
  },
);
