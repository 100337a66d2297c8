import { sparkline } from '../../charts/sparkline.ts';
import { lineChart, type TimedValue } from '../../charts/line-chart.ts';
import type { ConsoleRow, ConsoleSnapshot, StatementResult } from '../../data/console-snapshot.ts';
import { countValue, figureCards, type FigureCard } from '../../html/figure-card.ts';
import { html, nothing, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { linkTo, moneyValue, shownNumber } from '../../html/values.ts';
import type { BarePage, Page } from '../../page/page.ts';
import { trendText } from './figure-columns.ts';
import { healthSentence, waitingList } from './waits.ts';

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
  { name: 'reversed', title: 'Reversed', kind: 'number', whyNone },
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
  { name: 'title', title: 'Offer', show: ({ offer_id, title }) => linkTo('offers', offer_id, title) },
  { name: 'conversions_24h', title: 'Last 24 h', kind: 'number', figure: 'conversions_24h' },
  { name: 'conversions_prior_24h', title: '24 h before', kind: 'number', figure: 'conversions_prior_24h' },
  { name: 'change', title: 'Change', kind: 'number' },
  { name: 'trend', title: 'Trend', figure: 'trend', show: ({ trend }) => trendText(trend) },
  { name: 'offer_id', title: 'Id', kind: 'number', link: 'offers' },
];

interface Figures {
  days: StatementResult<DayRow>;
  hours: StatementResult<HourRow>;
  movers: StatementResult<MoverRow>;
}

/** Figures by snapshot: the page is live, they are not, and reversals are counted over all conversions. */
const known = new WeakMap<ConsoleSnapshot, Promise<Figures>>();

function figuresOf(snapshot: ConsoleSnapshot): Promise<Figures> {
  const figures = known.get(snapshot) ?? askFigures(snapshot);
  known.set(snapshot, figures);
  // The next request asks again.
  figures.catch(() => known.delete(snapshot));
  return figures;
}

async function askFigures(snapshot: ConsoleSnapshot): Promise<Figures> {
  const days = await snapshot.ask('overview_days');
  const hours = await snapshot.ask('network_hours');
  return { days, hours, movers: await snapshot.ask('movers') };
}

export const overviewPage: Page = {
  path: '/',
  navigation: 'Overview',
  live: true,
  async show({ snapshot, health, user }) {
    const { days, hours, movers } = await figuresOf(snapshot);
    return {
      title: 'Overview',
      question: 'Is all well, and what changed?',
      parts: [
        healthSentence(health),
        cards(days.rows, hours.rows),
        waitingList(health.status?.to_do ?? [], user),
        hourCharts(hours.rows),
        dataTable<MoverRow>({
          name: 'movers',
          caption: 'Offers that changed most',
          columns: moverColumns,
          ...movers,
          empty: 'No offer converted more or less than the day before.',
        }),
        dataTable<DayRow>({
          name: 'days',
          caption: 'Today and the same hours of other days',
          columns: dayColumns,
          ...days,
          folded: true,
          empty: 'There is no data of these days.',
        }),
        dataTable<HourRow>({
          name: 'hours',
          caption: 'The last 48 full hours',
          columns: hourColumns,
          ...hours,
          folded: true,
          empty: '',
        }),
      ],
    };
  },
};

/** The overview before anything is published, or while nothing that is published can be read. */
export const firstPage: BarePage = {
  path: overviewPage.path,
  title: 'Overview',
  body: ({ health, user }) => html`<h1>Overview</h1>
    <p class="question">Is all well? There is no snapshot to show: a refresh publishes one.</p>
    ${healthSentence(health)}${waitingList(health.status?.to_do ?? [], user)}`,
};

/** The day of the as-of beside the same hours of the day before. */
function cards(days: readonly DayRow[], hours: readonly HourRow[]): Html {
  const today = days.find(({ days_before }) => days_before === 0);
  const dayBefore = days.find(({ days_before }) => days_before === 1);
  if (today === undefined) return nothing;
  const until = today.until.slice(11, 16);
  const card = (
    title: string,
    column: 'clicks' | 'conversions' | 'earnings' | 'epc' | 'reversed',
    show: FigureCard['show'],
    hourlyLine?: Html,
  ): FigureCard => ({
    title,
    value: today[column],
    show,
    before: { value: dayBefore?.[column] ?? null, name: 'the day before' },
    line: hourlyLine,
  });
  const hourly = (column: 'clicks' | 'conversions' | 'earnings') =>
    sparkline(
      hours.map((row) => (row[column] === null ? null : Number(row[column]))),
      `${column} by hour over 48 hours`,
    );
  return html`<p class="quiet">Today up to ${until} UTC, beside the same hours of the day before. <a href="#days">SQL</a></p>
    ${figureCards(`Today up to ${until} UTC`, [
      card('Clicks', 'clicks', countValue, hourly('clicks')),
      card('Conversions', 'conversions', countValue, hourly('conversions')),
      card('Earnings, USD', 'earnings', moneyValue, hourly('earnings')),
      card('EPC, USD', 'epc', moneyValue),
      card('Reversed', 'reversed', countValue),
    ])}`;
}

function hourCharts(hours: readonly HourRow[]): Html {
  const sum = hours.reduce((all, row) => all + (row.clicks ?? 0), 0);
  const dashed = hours.some((row) => row.clicks_week_before !== null) ? '; dashed: the same hours a week before' : '';
  return html`<div class="multiples">${lineChart({
    title: 'Clicks by hour',
    summary: `Clicks by hour over 48 full hours, ${shownNumber(sum)} in all${dashed}.`,
    unit: 'clicks',
    values: line(hours, 'clicks'),
    before: line(hours, 'clicks_week_before'),
  })}${lineChart({
    title: 'Earnings by hour, USD',
    summary: `Earnings by hour over 48 full hours, USD${dashed}.`,
    unit: 'USD',
    values: line(hours, 'earnings'),
    before: line(hours, 'earnings_week_before'),
  })}</div>`;
}

function line(rows: readonly HourRow[], column: Exclude<keyof HourRow, 'hour'>): TimedValue[] {
  return rows.map((row) => ({ at: row.hour, value: row[column] === null ? null : Number(row[column]) }));
}
