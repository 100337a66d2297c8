import { durationBars } from '../../charts/duration-bars.ts';
import { lineChart } from '../../charts/line-chart.ts';
import { smallMultiples } from '../../charts/small-multiples.ts';
import { sparkline } from '../../charts/sparkline.ts';
import { badge } from '../../html/badges.ts';
import { countValue, figureCards } from '../../html/figure-card.ts';
import { filterForm, presets } from '../../html/filter-form.ts';
import { html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, missing, moment, moneyValue } from '../../html/values.ts';
import type { Page } from '../../page/page.ts';
import { waitingList } from '../figures/waits.ts';

interface SampleRow {
  title: string;
  state: string;
  click_id: string;
  seen_at: string | null;
  clicks: number;
  earnings: string;
  cvr: string;
}

const columns: readonly Column<SampleRow>[] = [
  { name: 'title', title: 'Title', sortable: true },
  { name: 'state', title: 'State', kind: 'status' },
  { name: 'click_id', title: 'Id', kind: 'id' },
  { name: 'seen_at', title: 'Moment', kind: 'moment', whyNone: 'not yet' },
  { name: 'clicks', title: 'Number', kind: 'number', sortable: true, figure: 'clicks' },
  { name: 'earnings', title: 'Money, USD', kind: 'money' },
  { name: 'cvr', title: 'Ratio', kind: 'percent' },
];

const rows: readonly SampleRow[] = [
  {
    title: 'A title of usual length',
    state: 'delivered',
    click_id: 'clk_00112233445566778899aabbccddeeff',
    seen_at: '2026-11-20T10:00:00.000000Z',
    clicks: 1_234_567,
    earnings: '12345.678900',
    cvr: '0.123456',
  },
  {
    title: 'A title that is longer than any table would like its titles to be, as those of advertisers often are',
    state: 'pending',
    click_id: 'clk_1',
    seen_at: null,
    clicks: 1,
    earnings: '0.004000',
    cvr: '1.000000',
  },
  {
    title: 'Короткий',
    state: 'dead',
    click_id: 'clk_2',
    seen_at: '2026-11-20T09:00:00.000000Z',
    clicks: 0,
    earnings: '0.000000',
    cvr: '0.000000',
  },
];

const tokens = ['ink', 'muted', 'accent', 'good', 'waiting', 'bad'] as const;
const week = [3, 5, 4, 8, 9, 7, 2].map((value, index) => ({ at: `2026-11-${14 + index}`, value: value * 100 }));
const weekBefore = week.map(({ at, value }, index) => ({ at, value: index < 2 ? null : value - 100 }));

/** All parts that pages are made of, with values of every kind: for people who write pages, and for tests. */
export const designPage: Page = {
  path: '/design',
  async show({ address, user }) {
    const values = week.map(({ value }) => value);
    return {
      title: 'Design',
      question: 'Which parts are pages made of? All values here are invented.',
      parts: [
        waitingList(
          [
            {
              what: 'site wall has accepted no postback for 2 hours',
              command: 'offerline postbacks test wall',
              alarm: true,
            },
            { what: 'an export of pollhive is held', command: 'offerline offers accept 7' },
            { what: 'little space is free; `offerline doctor` shows where', command: 'offerline doctor' },
          ],
          user,
        ),
        figureCards('Large figures', [
          {
            title: 'Clicks',
            value: 12_345,
            show: countValue,
            before: { value: 10_000, name: 'the day before' },
            line: sparkline(values, 'clicks of a week', { isRunning: true }),
          },
          {
            title: 'Earnings, USD',
            value: '1234.567800',
            show: moneyValue,
            before: { value: '2000.000000', name: 'the day before' },
          },
          {
            title: 'EPC, USD',
            value: '0.100000',
            show: moneyValue,
            before: { value: '0.100000', name: 'the day before' },
          },
          { title: 'Reversed', value: null, show: countValue },
        ]),
        html`<section>
          <h2>Type and colours</h2>
          <ul class="swatches">
            ${tokens.map((name) => html`<li class="sample-${name}">${name}</li> `)}
          </ul>
          <p>Text, <a href="/design">a link</a>, <code>code</code>, <span class="quiet">quiet</span>, ${missing('the reason')}, ${moment('2026-11-20T10:00:00.000000Z')}</p>
          <p>
            ${badge('good', 'good')} ${badge('waiting', 'waiting')} ${badge('bad', 'bad')} ${badge('quiet', 'quiet')}
          </p>
        </section>`,
        presets(address, 'Presets', [
          { title: 'shown', sets: {} },
          { title: 'another', sets: { days: '7' } },
        ]),
        filterForm(address, [
          { name: 'text', title: 'Text', example: 'an example' },
          { name: 'choice', title: 'Choice', choices: ['one', 'two'] },
          { name: 'day', title: 'Day', kind: 'date' },
          { name: 'since', title: 'Moment, UTC', kind: 'moment' },
        ]),
        dataTable<SampleRow>({ name: 'sample', caption: 'A table', columns, rows, sql: 'SELECT 1', empty: '' }),
        dataTable<SampleRow>({ name: 'folded', caption: 'A folded table', columns, rows, folded: true, empty: '' }),
        dataTable<SampleRow>({
          name: 'empty',
          caption: 'An empty table',
          columns,
          rows: [],
          empty: 'There is nothing here yet.',
        }),
        facts([
          ['Term', 'a value'],
          ['State', badge('done', 'good')],
        ]),
        html`<div class="multiples">${lineChart({
          title: 'A line with its week before',
          summary: 'Clicks by day, with a gap before the first known day; the last day is not over.',
          unit: 'clicks',
          values: week,
          before: weekBefore,
          isRunning: true,
        })}${lineChart({ title: 'Nothing', summary: 'Earnings of days without any.', unit: 'USD', values: week.map(({ at }) => ({ at, value: 0 })) })}</div>`,
        smallMultiples({ title: 'Small charts', caption: 'All on one scale', isRunning: true }, [
          { name: 'wall', href: '/design', values },
          { name: 'other', href: '/design', values: values.toReversed() },
        ]),
        await durationBars('Durations in seconds; one failed.', [
          { name: '1', seconds: 3, failed: false },
          { name: '2', seconds: 5, failed: true },
        ]),
        html`<p class="error" role="alert">A sentence that says what is wrong, and what helps.</p>`,
      ],
    };
  },
};
