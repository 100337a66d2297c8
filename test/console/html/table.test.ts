import { expect, it } from 'vitest';
import { Address } from '../../../src/console/html/address.ts';
import { dataTable, type TableOptions } from '../../../src/console/html/table.ts';

interface Row {
  title: string;
  clicks: number;
}

function markupOf(own: Partial<TableOptions<Row>>, address = '/offers'): string {
  return dataTable<Row>({
    name: 'offers',
    caption: 'Offers',
    columns: [{ name: 'title', title: 'Title' }],
    rows: [{ title: 'Quest', clicks: 1 }],
    empty: 'There are no offers.',
    ...own,
  })
    .markup(Address.of(address))
    .toString();
}

it('a part beyond the last row is not shown as an empty table', () => {
  const markup = markupOf({ rows: [], first: 500, total: 500 }, '/offers?from_row=500&status=active');
  expect(markup).not.toContain('There are no offers.');
  expect(markup).toContain('There is no row 501');
  expect(markup).toContain('href="/offers?status=active"');
  expect(markupOf({ rows: [], total: 0 })).toContain('There are no offers.');
});

it('an incomplete CSV file says how many rows it has', () => {
  const sql = 'SELECT 1';
  expect(markupOf({ sql, total: 123_456 })).toContain('the first 100,000 of 123,456 rows');
  expect(markupOf({ sql, total: 12_345, maxRowsInFile: 10_000 })).toContain('the first 10,000 of 12,345 rows');
  expect(markupOf({ sql, total: 100_000 })).not.toContain('the first');
});

it('the rows of a query have the command that prints them', () => {
  expect(markupOf({ sql: 'SELECT 1' })).toContain('<code>offerline sql</code> with this query');
  expect(markupOf({ sql: 'SELECT 1', command: 'offerline status' })).toContain('<code>offerline status</code>');
});

it.each([
  ['=1+1', `'=1+1`],
  ['+1', `'+1`],
  ['-1+cmd', `'-1+cmd`],
  ['@SUM(1)', `'@SUM(1)`],
  ['\t=1', `'\t=1`],
  ['\r=1', `"'\r=1"`],
  ['\n=1', `"'\n=1"`],
  ['＝1', `'＝1`],
  ['＋1', `'＋1`],
  ['－1', `'－1`],
  ['＠SUM(1)', `'＠SUM(1)`],
  ['-1.5', '-1.5'],
  ['Quest', 'Quest'],
])('in a CSV file %j is no formula', (title, cell) => {
  const part = dataTable<Row>({
    name: 'offers',
    caption: 'Offers',
    columns: [{ name: 'title', title: 'Title' }],
    rows: [{ title, clicks: 1 }],
    empty: '',
  });
  expect(part.csv()).toBe(`title\n${cell}\n`);
});

it('in a CSV file the name of a column is no formula either', () => {
  const name = '=HYPERLINK("https://a.example")';
  const part = dataTable<Record<string, string>>({
    name: 'answer',
    caption: 'Answer',
    columns: [{ name, title: name }],
    rows: [],
    empty: '',
  });
  expect(part.csv()).toBe(`"'=HYPERLINK(""https://a.example"")"\n`);
});
