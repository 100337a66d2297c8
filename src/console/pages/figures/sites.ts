import { addDays, dayOf, type Day } from '../../../kit/time/moment.ts';
import { smallMultiples } from '../../charts/small-multiples.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { badge } from '../../html/badges.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { missing, shownNumber, numberValue } from '../../html/values.ts';
import { orderOf, type Page } from '../../page/page.ts';
import { rangeForm, timeRangeOf } from '../time-range.ts';

type SiteRow = ConsoleRow<'sites'>;

const notInFile = 'sites.json lacks this site';
/** Limit of small charts: people do not compare more. The table has all sites. */
const maxCharts = 24;

/** `expected`: a site without clicks on that day or later has stopped. */
function columnsOf(expected: Day): readonly Column<SiteRow>[] {
  return [
    { name: 'site_key', title: 'Site', link: 'sites', sortable: true },
    { name: 'name', title: 'Name', sortable: true, whyNone: notInFile },
    {
      name: 'status',
      title: 'Status',
      sortable: true,
      show: ({ status }) => (status === null ? missing(notInFile) : siteBadge(status)),
    },
    {
      name: 'last_day',
      title: 'Last clicks',
      sortable: true,
      show: ({ last_day }) =>
        last_day === null
          ? badge('none in these days', 'quiet')
          : badge(last_day, last_day < expected ? 'waiting' : 'good'),
    },
    { name: 'clicks', title: 'Clicks', kind: 'number', sortable: true },
    { name: 'conversions', title: 'Conversions', kind: 'number', sortable: true },
    { name: 'gross_earnings', title: 'Earnings, gross, USD', kind: 'money', sortable: true },
    { name: 'commission', title: 'Commission', kind: 'percent', sortable: true, whyNone: notInFile },
    {
      name: 'earnings_after_commission',
      title: 'After commission, USD',
      kind: 'money',
      sortable: true,
      whyNone: notInFile,
    },
    {
      name: 'waiting',
      title: 'Postbacks waiting',
      kind: 'number',
      sortable: true,
      show: ({ site_key, waiting }) => postbackCount(site_key, 'pending', waiting),
    },
    {
      name: 'dead',
      title: 'Dead',
      kind: 'number',
      sortable: true,
      show: ({ site_key, dead }) => postbackCount(site_key, 'dead', dead),
    },
    {
      name: 'lag_seconds_p95',
      title: 'Lag p95, s',
      kind: 'number',
      sortable: true,
      whyNone: 'no postback of yesterday and today is delivered',
    },
  ];
}

export const sitesPage: Page = {
  path: '/sites',
  navigation: 'Sites',
  async show({ snapshot, address, part }) {
    const range = timeRangeOf(address, snapshot.asOf);
    const yesterday = addDays(dayOf(snapshot.asOf), -1);
    const columns = columnsOf(range.to < yesterday ? range.to : yesterday);
    const order = orderOf(address, columns);
    const sites = await snapshot.ask('sites', { parameters: { ...range }, order, part });
    return {
      title: 'Sites',
      question:
        'Which sites earn, and which stopped? Waiting and dead postbacks are of all time; their lag is of those written yesterday and today.',
      parts: [
        rangeForm(address, range, snapshot.asOf),
        dataTable<SiteRow>({
          name: 'sites',
          caption: order === undefined ? 'Sites, highest earnings first' : 'Sites',
          columns,
          ...sites,
          command: 'offerline sql "FROM site_daily"',
          empty: html`There are no sites. <code>offerline sites add</code> adds one.`,
        }),
        ...charts(sites, range.to >= dayOf(snapshot.asOf)),
      ],
    };
  },
};

/** A count that leads to its postbacks; none is quiet. */
function postbackCount(site: string, state: 'pending' | 'dead', count: number): Html {
  if (count === 0) return html`<span class="quiet">${numberValue(0)}</span>`;
  return html`<a href="/postbacks?site=${encodeURIComponent(site)}&state=${state}">${numberValue(count)}</a>`;
}

function charts({ rows: all, total }: { rows: readonly SiteRow[]; total: number }, isRunning: boolean): Html[] {
  const rows = all.slice(0, maxCharts);
  if (rows.every((row) => row.clicks_by_day.length === 0)) return [];
  const limit = rows.length < total ? `, the first ${rows.length} of ${shownNumber(total)} sites` : '';
  const name = ({ site_key }: SiteRow) => ({ name: site_key, href: `/sites/${encodeURIComponent(site_key)}` });
  return [
    smallMultiples(
      { title: 'Clicks by day', caption: `All on one scale${limit}`, isRunning },
      rows.map((row) => ({ ...name(row), values: row.clicks_by_day })),
    ),
    smallMultiples(
      { title: 'Gross earnings by day, USD', caption: `All on one scale${limit}`, isRunning },
      rows.map((row) => ({ ...name(row), values: row.earnings_by_day })),
    ),
  ];
}

export function siteBadge(status: string): Html {
  return badge(status, status === 'active' ? 'good' : 'waiting');
}
