import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkSources } from '../../pipelines/check-sources.ts';
import { pullSources } from '../../pipelines/pull.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { clockFrom, dataWith, exported, serve, terminal } from '../support/declared-network.ts';

const key = 'k3y/of+an account';
const spelled = encodeURIComponent(key);
const account = '1200';

const pullAt = (data: DataDirectory, moment: string) =>
  pullSources({ data, terminal }, realEffects, clockFrom(Date.parse(moment)));

/** Texts of all files below the landing folder. */
async function landed(data: DataDirectory): Promise<string[]> {
  const entries = await readdir(data.landing, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')));
}

const source = (base_url: string, own: object) => ({
  source: 'north',
  connector: 'http',
  base_url,
  secrets: { key, account },
  ...own,
});

it('a secret that a network echoes is in no text of an offer but its link', async () => {
  const offer = (id: string, own: object) => ({ id, title: 'One', payout: '1200.50', ...own });
  const link = `https://go.example/?k=${spelled}`;
  const offers = [
    offer('1200-1', { title: `Earn 1200 by ${key}`, preview: `https://shop.example/?api_key=${spelled}`, link }),
    offer('1200-2', { words: [`for ${key}`, 'Games'], goals: [{ event_id: 'done', description: key, payout: '1' }] }),
    offer(`of ${key} 1`, {}),
    offer(`of ${key} 2`, {}),
  ];
  const fields = {
    external_id: 'id',
    title: 'title',
    payout: 'payout',
    preview_url: 'preview',
    destination_url: 'link',
    categories: 'words',
    events: 'goals',
  };
  const url = await serve(() => JSON.stringify(offers));
  const data = await dataWith(source(url, { offers: { fields } }));
  const [pulled] = await pullAt(data, '2026-11-20T12:00:00Z');
  expect(pulled).toMatchObject({ status: 'done', records: 4, left_out: { secret_in_id: 2 } });
  expect(pulled?.warnings).toMatchObject({ secret_removed: 2 });
  expect(await exported(data, 'north')).toMatchObject([
    {
      external_id: '1200-1',
      title: 'Earn 1200 by •••',
      payout: '1200.50',
      preview_url: 'https://shop.example/?api_key=•••',
      destination_url: link,
    },
    {
      external_id: '1200-2',
      categories: ['for •••', 'Games'],
      events: [{ event_id: 'done', description: '•••', payout: '1' }],
    },
  ]);
  const texts = (await landed(data)).map((text) => text.replaceAll(link, ''));
  for (const form of [key, spelled]) expect(texts.filter((text) => text.includes(form))).toEqual([]);
  // The same content is no news.
  expect(await pullAt(data, '2026-11-20T13:00:00Z')).toMatchObject([{ status: 'done', file: null }]);
  const [checked] = await checkSources({ data, terminal, sample: 4 }, clockFrom(0));
  expect(checked?.sampled?.offers).toMatchObject({
    left_out: [{ reason: 'secret_in_id', records: 2 }],
    warnings: expect.arrayContaining([expect.objectContaining({ reason: 'secret_removed' })]) as unknown,
  });
});

it('a secret that a network echoes is in no line of a conversion', async () => {
  const conversion = (id: string, sub: string) => ({ id, sub, st: 'no', at: 1_795_000_000, why: `bad ${key}` });
  const url = await serve(() =>
    JSON.stringify([conversion('1200', 'c1'), conversion(`${key}-1`, 'c2'), conversion('3', `sub ${key}`)]),
  );
  const conversions = {
    fields: {
      conversion_id: 'id',
      click_id: 'sub',
      status: { at: 'st', words: { no: 'reject' } },
      occurred_at: { at: 'at', time: 'epoch_s' },
      reason: 'why',
    },
  };
  const data = await dataWith(source(url, { conversions }));
  const [pulled] = await pullAt(data, '2026-11-20T12:00:00Z');
  expect(pulled).toMatchObject({ status: 'done', conversion_lines: 1, conversions_left_out: { secret_in_id: 2 } });
  const [text = '', ...others] = await landed(data);
  expect(others).toEqual([]);
  expect(JSON.parse(text)).toMatchObject({ conversion_id: 'north-1200', click_id: 'c1', reason: 'bad •••' });
});

it('a secret in capitals that a network echoes as a host or a coding is in no error', async () => {
  const capitals = 'K3Y-In-Capitals';
  const answers = { host: { next: `http://${capitals}.evil.example/` }, coding: {} };
  for (const [where, answer] of Object.entries(answers)) {
    const server = createServer((_, response) => {
      response.writeHead(200, where === 'coding' ? { 'content-encoding': capitals } : {});
      response.end(JSON.stringify({ items: [{ id: 'a' }], ...answer }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const paging = { kind: 'cursor', next_url: 'next' };
    const offers = { query: { k: '{key}' }, records: 'items', paging, fields: { external_id: 'id' } };
    const data = await dataWith(source(url, { secrets: { key: capitals }, offers }));
    const [pulled] = await pullAt(data, '2026-11-20T12:00:00Z');
    expect(pulled?.error).toContain(where === 'coding' ? 'not asked for' : 'another server');
    expect(pulled?.error?.toLowerCase()).not.toContain(capitals.toLowerCase());
  }
});
