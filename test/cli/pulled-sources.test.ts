import { expect, it } from 'vitest';
import { dataWith, serve } from '../support/declared-network.ts';
import { command } from '../support/commands.ts';

it('sources pull shows conversions, and nothing new only where there was none', async () => {
  const conversions = [
    { id: '1', sub: 'c1', st: 'ok', at: 1_760_000_000 },
    { id: '2', sub: 'c2', st: 'ok', at: 1_760_000_000 },
    { id: '3', st: 'ok', at: 1_760_000_000 },
  ];
  const url = await serve(() => JSON.stringify(conversions));
  const fields = {
    conversion_id: 'id',
    click_id: 'sub',
    status: { at: 'st', words: { ok: 'credit' } },
    occurred_at: { at: 'at', time: 'epoch_s' },
  };
  const data = await dataWith({ source: 'acts', connector: 'http', base_url: url, conversions: { fields } });
  const pull = async () => (await command(data.root, 'sources', 'pull')).replaceAll(/ +/g, ' ').trim().split('\n');
  const [heads, row] = await pull();
  expect(heads).toMatch(/^source status pages records left_out file conversions lines without_line error/);
  expect(row).toMatch(/^acts done 0 0 0 - 3 2 1 -/);
  expect((await pull())[1]).toMatch(/^acts done 0 0 0 nothing new 3 0 1 -/);
});
