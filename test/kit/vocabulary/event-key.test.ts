import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inMemory, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { keyOfText, keyRanges, repeatedEventKeys, textKey } from '../../../src/kit/vocabulary/event-key.ts';

it('is the first 60 bits of the MD5, in SQL as in code', async () => {
  expect(keyOfText('c1')).toBe(0xa9f7e97965d6cf7n);
  const texts = fc.sample(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), { numRuns: 200, seed: 1 });
  await withDuckDB(inMemory, {}, async (connection) => {
    const rows = await queryRows<{ text: string; key: string; plain: string }>(
      connection,
      `SELECT text, ${textKey('text')}::VARCHAR AS key, ('0x' || left(md5(text), 15))::BIGINT::VARCHAR AS plain
       FROM (SELECT unnest(from_json($1, '["VARCHAR"]')) AS text)`,
      [JSON.stringify(texts.map((text) => text.toWellFormed()))],
    );
    expect(rows.length).toBe(texts.length);
    for (const { text, key, plain } of rows) expect([key, plain]).toEqual([String(keyOfText(text)), plain]);
    for (const { key, plain } of rows) expect(key).toBe(plain);
  });
});

it('parts keys into ranges, ascending, of which each key is in one', async () => {
  expect(keyRanges(4_000_000, 'joined')).toEqual(['true']);
  expect(keyRanges(12_000_001, 'sorted')).toHaveLength(2);
  const ranges = keyRanges(30_000_000, 'joined');
  expect(ranges).toHaveLength(8);
  await withDuckDB(inMemory, {}, async (connection) => {
    const rows = await queryRows<{ in_range: boolean[]; event_key: string }>(
      connection,
      `SELECT [${ranges.join(', ')}] AS in_range, event_key::VARCHAR AS event_key
       FROM (SELECT ${textKey('i::VARCHAR')} AS event_key FROM range(1000) AS n(i)) ORDER BY event_key::BIGINT`,
    );
    expect(rows.every(({ in_range }) => in_range.filter(Boolean).length === 1)).toBe(true);
    const order = rows.map(({ in_range }) => in_range.indexOf(true));
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(new Set(order).size).toBe(8);
  });
});

it('finds the keys that several rows have, each once', async () => {
  await withDuckDB(inMemory, {}, async (connection) => {
    const rows = '(SELECT unnest([3, 1, 2, 3, 1, 3, 4]) AS event_key)';
    expect(await queryRows(connection, `${repeatedEventKeys(rows, 'event_key > 0')} ORDER BY event_key`)).toEqual([
      { event_key: 1 },
      { event_key: 3 },
    ]);
    expect(await queryRows(connection, repeatedEventKeys(rows, 'event_key > 1'))).toEqual([{ event_key: 3 }]);
  });
});
