import { smallMultiples } from '../../charts/small-multiples.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { figureText, state, unknown } from '../../html/figures.ts';
import { html, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import { addDays, dayOf } from '../../../kit/time/moment.ts';
import { orderOf, type Page } from '../../page/page.ts';
import { rangeForm, timeRangeOf } from './time-range.ts';

type SiteRow = ConsoleRow<'sites'>;

const notInFile = 'sites.json lacks this site';
/** More small pictures than these nobody compares; the table has all sites. */
const mostPictures = 24;

function columnsOf(yesterday: string): readonly Column<SiteRow>[] {
  return [
    {
      name: 'site_key',
      title: 'Site',
      sortable: true,
      show: ({ site_key }) => html`<a href="/sites/${encodeURIComponent(site_key)}">${site_key}</a>`,
    },
    { name: 'name', title: 'Name', sortable: true, show: ({ name }) => orUnknown(name) },
    {
      name: 'status',
      title: 'Status',
      sortable: true,
      show: ({ status }) => (status === null ? unknown(notInFile) : siteState(status)),
    },
    {
      name: 'last_day',
      title: 'Last clicks',
      sortable: true,
      show: ({ last_day }) =>
        last_day === null
          ? state('none in these days', 'quiet')
          : state(last_day, last_day < yesterday ? 'waiting' : 'good'),
    },
    { name: 'clicks', title: 'Clicks', kind: 'number', sortable: true },
    { name: 'conversions', title: 'Conversions', kind: 'number', sortable: true },
    { name: 'gross_earnings', title: 'Earnings, gross, USD', kind: 'money', sortable: true },
    { name: 'commission', title: 'Commission', kind: 'number', sortable: true },
    { name: 'earnings_after_commission', title: 'After commission, USD', kind: 'money', sortable: true },
    { name: 'waiting', title: 'Postbacks waiting', kind: 'number', sortable: true },
    {
      name: 'dead',
      title: 'Dead',
      kind: 'number',
      sortable: true,
    },
    {
      name: 'lag_seconds_p95',
      title: 'Lag p95, s',
      kind: 'number',
      sortable: true,
      show: ({ lag_seconds_p95: lag }) =>
        lag === null ? unknown('none of yesterday and today is delivered') : html`<data value="${lag}">${lag}</data>`,
    },
  ];
}

/** Who earns, and who stopped? */
export const sitesPage: Page = {
  path: '/sites',
  navigation: 'Sites',
  async show({ snapshot, address, part }) {
    const range = timeRangeOf(address, snapshot.asOf);
    const columns = columnsOf(addDays(dayOf(snapshot.asOf), -1));
    const order = orderOf(address, columns);
    const answer = await snapshot.ask('sites', { parameters: { ...range }, order, part });
    const pictured = answer.rows.slice(0, mostPictures);
    return {
      title: 'Sites',
      question:
        'Who earns, and who stopped? Postbacks that wait or are dead are of all time; their lag is of those written yesterday and today.',
      parts: [
        rangeForm(address, range),
        table<SiteRow>({
          name: 'sites',
          caption: order === undefined ? 'Sites, who earns most first' : 'Sites',
          columns,
          ...answer,
          command: 'offerline sql "FROM site_daily"',
          empty: html`There are no sites. <code>offerline sites add</code> adds one.`,
        }),
        ...pictures(pictured, answer.total),
      ],
    };
  },
};

function pictures(rows: readonly SiteRow[], total: number): Html[] {
  if (rows.every((row) => row.clicks_by_day.length === 0)) return [];
  const limit = rows.length < total ? `, the first ${rows.length} of ${figureText(total)} sites` : '';
  const name = ({ site_key }: SiteRow) => ({ name: site_key, href: `/sites/${encodeURIComponent(site_key)}` });
  return [
    smallMultiples(
      `Clicks by day, all on one scale${limit}`,
      rows.map((row) => ({ ...name(row), values: row.clicks_by_day })),
    ),
    smallMultiples(
      `Gross earnings by day, USD, all on one scale${limit}`,
      rows.map((row) => ({ ...name(row), values: row.earnings_by_day })),
    ),
  ];
}

export function siteState(status: string): Html {
  return state(status, status === 'active' ? 'good' : 'waiting');
}

function orUnknown(text: string | null): Html {
  return text === null ? unknown(notInFile) : html`${text}`;
}
