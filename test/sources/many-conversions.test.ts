import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { clockFrom, dataWith, serve, terminal } from '../support/declared-network.ts';
import { slow } from '../support/slow.ts';

/** Each record has more that is not read than that is. */
const [ofWindow, ofPage, unread] = [4000, 500, 'x'.repeat(4000)];

it('windows of conversions keep what is read of each record', slow, async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = () => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const measured: number[] = [];
  const url = await serve(({ searchParams }) => {
    const [from, page] = [searchParams.get('from'), Number(searchParams.get('page'))];
    const count = Math.min(ofPage, Math.max(0, ofWindow - page * ofPage));
    // The whole window is in memory.
    if (count === 0) measured.push(held());
    const items = Array.from({ length: count }, (_, row) => {
      const id = `${from}-${page * ofPage + row}`;
      return { id, sub: `c-${id}`, st: 'ok', at: `${from}T10:00:00Z`, unread: unread + id };
    });
    return JSON.stringify(items);
  });
  const conversions = {
    query: { from: '{from}', page: '{page}' },
    paging: { kind: 'page', first: 0, size: ofPage },
    fields: {
      conversion_id: 'id',
      click_id: 'sub',
      status: { at: 'st', words: { ok: 'credit' } },
      occurred_at: 'at',
    },
  };
  const data = await dataWith({ source: 'acts', connector: 'http', base_url: url, conversions });
  const before = held();
  const pulled = await pullSources({ data, terminal }, realEffects, clockFrom(Date.parse('2026-11-20T12:00:00Z')));
  expect(pulled).toMatchObject([{ status: 'done', error: null, conversion_lines: 2 * ofWindow }]);
  expect(measured).toHaveLength(2);
  // The records of a window are 16 MB.
  expect(Math.max(...measured) - before).toBeLessThan(14);
});
