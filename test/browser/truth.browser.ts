import { afterAll, describe, expect, it } from 'vitest';
import { readAnalytics } from '../../src/pipeline/snapshot/read-analytics.ts';
import type { QueryRow } from '../../src/kit/duckdb/dialect/rows.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { closeBrowser, openConsole, type OpenedConsole } from './support/opened-console.ts';
import { randomNetwork } from './support/networks.ts';

afterAll(closeBrowser);

/** A number as people read it, and the exact one that they find on hover where it shows less. */
interface ShownNumber {
  text: string;
  exact: string | null;
}

/** A table of a page: its query, and the number in each cell of its columns of numbers. */
interface ShownTable {
  caption: string;
  sql: string;
  columns: string[];
  rows: (ShownNumber | null)[][];
}

async function shownTables({ page }: OpenedConsole): Promise<ShownTable[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('section.table')].map((section) => {
      const headings = [...section.querySelectorAll('th')];
      const numbers = headings.flatMap((heading, at) => (heading.matches('.number, .money, .percent') ? [at] : []));
      return {
        caption: section.querySelector('h2')?.textContent ?? '',
        sql: section.querySelector('pre.sql')?.textContent ?? '',
        columns: numbers.map((at) => headings[at]?.dataset['column'] ?? ''),
        rows: [...section.querySelectorAll('tbody tr')].map((row) =>
          numbers.map((at) => {
            const shown = row.querySelectorAll('td')[at];
            if (shown === undefined || shown.querySelector('.unknown') !== null) return null;
            // A number has commas besides its digits.
            const text = shown.textContent.replaceAll(',', '').trim();
            const data = shown.querySelector('data');
            // Where the text shows less, the rest has to be on hover.
            return {
              text,
              exact: data?.getAttribute('title') ?? (/^[\d.-]+$/.test(text) ? text : (data?.value ?? null)),
            };
          }),
        ),
      };
    }),
  );
}

/** Numbers that differ from what the page's own SQL gives on the snapshot. */
async function mistakesOf(table: ShownTable, data: DataDirectory): Promise<string[]> {
  const expected = await readAnalytics(data.current, (query) => query(table.sql));
  if (expected.length !== table.rows.length)
    return [`${table.caption}: ${table.rows.length} rows are shown, the query gives ${expected.length}`];
  return expected.flatMap((row, index) =>
    table.columns.flatMap((column, at) => {
      const shown = table.rows[index]?.[at] ?? null;
      return sameNumber(row, column, shown)
        ? []
        : [`${table.caption}, row ${index}, ${column}: ${JSON.stringify(shown)} for ${JSON.stringify(row[column])}`];
    }),
  );
}

function sameNumber(row: QueryRow, column: string, shown: ShownNumber | null): boolean {
  const value = row[column];
  if (value === null || shown === null) return value === shown;
  if (typeof value !== 'number' && typeof value !== 'string') return false;
  return shown.exact !== null && plain(String(value)) === plain(shown.exact) && isRoundingOf(Number(value), shown.text);
}

/** The text is the number to as many places as it has, in per cent where it says so. */
function isRoundingOf(value: number, text: string): boolean {
  if (text === '< 0.01') return value > 0 && value < 0.005;
  const [digits = '', unit] = text.split(' ');
  const places = digits.split('.')[1]?.length ?? 0;
  const shown = unit === '%' ? value * 100 : value;
  // A millionth for values that no double has exactly.
  return /^-?\d+(\.\d+)?$/.test(digits) && Math.abs(Number(digits) - shown) <= 0.5 * 10 ** -places + 1e-6;
}

/** A number without trailing zeros. */
function plain(number: string): string {
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
}

describe.each([1, 2, 3])('random network %i', (seed) => {
  it('overview, offers and sites show the numbers of their SQL', async () => {
    const data = await randomNetwork(seed);
    const opened = await openConsole(data);
    let numbers = 0;
    for (const path of ['/', '/offers', '/offers?sort=epc.down', '/offers?from_row=100&status=active', '/sites']) {
      expect(await opened.visit(path), path).toBe(200);
      const tables = await shownTables(opened);
      expect(tables.length, path).toBeGreaterThan(0);
      for (const table of tables) {
        expect(table.sql, `${path}: ${table.caption}`).not.toBe('');
        expect(await mistakesOf(table, data), path).toEqual([]);
        numbers += table.rows.length * table.columns.length;
      }
    }
    expect(numbers).toBeGreaterThan(1000);
    const [hours = ''] = await opened.visit('/').then(() => opened.page.locator('figcaption').allTextContents());
    const [sum] = await readAnalytics(data.current, (query) =>
      query<{ clicks: number }>(
        `SELECT sum(clicks)::BIGINT AS clicks FROM offer_hourly, (SELECT max(as_of) AS as_of FROM offer_stats_2d) WHERE hour BETWEEN date_trunc('hour', as_of) - INTERVAL 48 HOURS AND date_trunc('hour', as_of) - INTERVAL 1 HOUR`,
      ),
    );
    expect(hours).toContain(`${sum?.clicks.toLocaleString('en')} in all`);
    expect(opened.complaints).toEqual([]);
  });
});

it('a number that differs from the query is found', async () => {
  const exactly = (text: string, exact = text) => ({ text, exact });
  expect(sameNumber({ clicks: 12 }, 'clicks', exactly('13'))).toBe(false);
  expect(sameNumber({ epc: '0.100000' }, 'epc', exactly('0.1'))).toBe(true);
  expect(sameNumber({ epc: '100' }, 'epc', exactly('1'))).toBe(false);
  expect(sameNumber({ epc: '0.126000' }, 'epc', exactly('0.13', '0.126000'))).toBe(true);
  expect(sameNumber({ epc: '0.126000' }, 'epc', exactly('0.12', '0.126000'))).toBe(false);
  expect(sameNumber({ epc: '0.126000' }, 'epc', exactly('0.13'))).toBe(false);
  expect(sameNumber({ epc: '0.004000' }, 'epc', exactly('< 0.01', '0.004000'))).toBe(true);
  expect(sameNumber({ cvr: '0.041250' }, 'cvr', exactly('4.13 %', '0.041250'))).toBe(true);
  expect(sameNumber({ cvr: '0.041250' }, 'cvr', exactly('0.04', '0.041250'))).toBe(true);
  expect(sameNumber({ cvr: '0.041250' }, 'cvr', exactly('41.25 %', '0.041250'))).toBe(false);
  expect(sameNumber({}, 'clicks', exactly('0'))).toBe(false);
  expect(sameNumber({ rank: null }, 'rank', exactly('0'))).toBe(false);
});
