import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { clockFrom, dataWith, exported, serve, terminal } from '../support/declared-network.ts';

const written = ['€', ' $ ', '', 'EUR', 'gbp', null, '978', 'US$'];
const at = '2026-11-18T10:00:00Z';

/** A network that writes a currency beside each amount, as one of these texts. */
async function network(): Promise<string> {
  const offers = written.map((cur, index) => ({ id: `o${index}`, name: 'A', pays: '2', cur }));
  const conversions = written.map((cur, index) => ({ id: `v${index}`, sub: 'c1', is: 'ok', at, pays: '2', cur }));
  return serve(({ pathname }) => JSON.stringify(pathname === '/offers' ? offers : conversions));
}

const declared = {
  offers: { path: '/offers', fields: { external_id: 'id', title: 'name', payout: 'pays', currency: 'cur' } },
  conversions: {
    path: '/conversions',
    fields: {
      conversion_id: 'id',
      click_id: 'sub',
      status: { at: 'is', words: { ok: 'credit' } },
      occurred_at: 'at',
      payout: 'pays',
      currency: 'cur',
    },
  },
};

async function pulled(own: object) {
  const data = await dataWith({ source: 'net', connector: 'http', base_url: await network(), ...declared, ...own });
  await writeFile(data.settingsFile, JSON.stringify({ rates: { EUR: '3', GBP: '5' } }));
  const clock = clockFrom(Date.parse('2026-11-20T12:00:00Z'));
  const [result] = await pullSources({ data, terminal }, realEffects, clock);
  const offers = (await exported(data, 'net')) as { external_id: string; currency: string }[];
  const folder = join(data.landing, 'conversions');
  const [log = ''] = await readdir(folder);
  const lines = (await readFile(join(folder, log), 'utf8')).trimEnd().split('\n');
  return {
    leftOut: result?.conversions_left_out,
    currencies: offers.map(({ currency }) => currency),
    amounts: lines.map((line) => {
      const { conversion_id, payout } = JSON.parse(line) as { conversion_id: string; payout: string };
      return `${conversion_id.replace('net-', '')} ${payout}`;
    }),
  };
}

it('a sign is the currency that the source says, a code stays what it is', async () => {
  expect(await pulled({ currency: 'EUR' })).toEqual({
    currencies: ['EUR', 'EUR', 'EUR', 'EUR', 'gbp', 'EUR', '978', 'US$'],
    amounts: ['v0 6', 'v1 6', 'v2 6', 'v3 6', 'v4 10', 'v5 6'],
    leftOut: { no_rate: 2 },
  });
});

it('a sign stays where the source says no currency, so that nothing is guessed', async () => {
  expect(await pulled({})).toEqual({
    currencies: ['€', '$', 'USD', 'EUR', 'gbp', 'USD', '978', 'US$'],
    amounts: ['v2 2', 'v3 6', 'v4 10', 'v5 2'],
    leftOut: { no_rate: 4 },
  });
});
