import { lineChart, type TimedValue } from '../../charts/line-chart.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { html, type Html } from '../../html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { moment, numberText } from '../../html/values.ts';
import type { HealthSummary } from '../../live/health.ts';
import { describeRole } from '../../../pipeline/status/describe-machine.ts';
import type { Page } from '../../page/page.ts';

type DayRow = ConsoleRow<'overview_days'>;
type HourRow = ConsoleRow<'network_hours'>;
type MoverRow = ConsoleRow<'movers'>;

const dayNames: Readonly<Record<number, string>> = { 0: 'today', 1: 'the day before', 7: 'a week before' };

const whyNone = 'before the first known day';

const dayColumns: readonly Column<DayRow>[] = [
  {
    name: 'day',
    title: 'Day',
    show: ({ day, days_before }) => html`${day} <span class="quiet">${dayNames[days_before]}</span>`,
  },
  { name: 'until', title: 'Up to', kind: 'moment' },
  { name: 'clicks', title: 'Clicks', kind: 'number', whyNone },
  { name: 'conversions', title: 'Conversions', kind: 'number', whyNone },
  { name: 'earnings', title: 'Earnings, USD', kind: 'money', whyNone },
  { name: 'epc', title: 'EPC, USD', kind: 'money', whyNone },
];

const hourColumns: readonly Column<HourRow>[] = [
  { name: 'hour', title: 'Hour', kind: 'moment' },
  { name: 'clicks', title: 'Clicks', kind: 'number', whyNone },
  { name: 'clicks_week_before', title: 'Week before', kind: 'number', whyNone },
  { name: 'conversions', title: 'Conversions', kind: 'number', whyNone },
  { name: 'conversions_week_before', title: 'Week before', kind: 'number', whyNone },
  { name: 'earnings', title: 'Earnings, USD', kind: 'money', whyNone },
  { name: 'earnings_week_before', title: 'Week before, USD', kind: 'money', whyNone },
];

const moverColumns: readonly Column<MoverRow>[] = [
  { name: 'offer_id', title: 'Offer', kind: 'number', link: 'offers' },
  { name: 'title', title: 'Title' },
  { name: 'conversions_24h', title: 'Last 24 h', kind: 'number', figure: 'conversions_24h' },
  { name: 'conversions_prior_24h', title: '24 h before', kind: 'number', figure: 'conversions_prior_24h' },
  { name: 'change', title: 'Change', kind: 'number' },
  { name: 'trend', title: 'Trend', figure: 'trend' },
];

export const overviewPage: Page = {
  path: '/',
  navigation: 'Overview',
  live: true,
  async show({ snapshot, health }) {
    const days = await snapshot.ask('overview_days');
    const hours = await snapshot.ask('network_hours');
    const movers = await snapshot.ask('movers');
    const sum = hours.rows.reduce((all, row) => all + (row.clicks ?? 0), 0);
    return {
      title: 'Overview',
      question: 'Is all well, and what changed?',
      parts: [
        attention(health),
        dataTable<DayRow>({
          name: 'days',
          caption: 'Today and the same hours of other days',
          columns: dayColumns,
          ...days,
          empty: 'There is no data of these days.',
        }),
        html`<div class="multiples">${await lineChart(
          `Clicks by hour over 48 full hours, ${numberText(sum)} in all; dashed: the same hours a week before.`,
          { values: line(hours.rows, 'clicks'), before: line(hours.rows, 'clicks_week_before') },
        )}${await lineChart('Earnings by hour over 48 full hours, USD; dashed: the same hours a week before.', {
          values: line(hours.rows, 'earnings'),
          before: line(hours.rows, 'earnings_week_before'),
        })}</div>`,
        dataTable<MoverRow>({
          name: 'movers',
          caption: 'Offers that changed most',
          columns: moverColumns,
          ...movers,
          empty: 'No offer converted more or less than the day before.',
        }),
        dataTable<HourRow>({
          name: 'hours',
          caption: 'The last 48 full hours',
          columns: hourColumns,
          ...hours,
          empty: '',
        }),
      ],
    };
  },
};

function attention({ status, word, checkedAt }: HealthSummary): Html {
  if (status === undefined)
    return html`<section id="attention">
      <h2>To do</h2>
      <p>The health check is running.</p>
    </section>`;
  const checked = html`<p class="quiet">
    On this machine ${describeRole(status.schedule)}. Checked at ${moment(new Date(checkedAt).toISOString())}. <code>offerline status</code> prints the same.
  </p>`;
  if (word === 'well')
    return html`<section id="attention">
      <h2>All is well</h2>
      ${checked}
    </section>`;
  return html`<section id="attention">
    <h2>To do</h2>
    <ul class="attention">
      ${status.to_do.map(({ what, command, alarm }) => html`<li${alarm === true && html` class="alarm"`}>${withCode(what)}. <code>${command}</code></li>`)}
    </ul>
    ${checked}
  </section>`;
}

function line(rows: readonly HourRow[], column: Exclude<keyof HourRow, 'hour'>): TimedValue[] {
  return rows.flatMap((row) => {
    const value = row[column];
    return value === null ? [] : [{ at: row.hour, value: Number(value) }];
  });
}

/** A sentence with commands between backticks. */
function withCode(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}
