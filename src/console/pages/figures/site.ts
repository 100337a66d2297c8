import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { readSites } from '../../../kit/sites/sites.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { actionForm } from '../../html/action-form.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { sqlCommand } from '../../html/sql-command.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, missing, moment, numberText, percentValue } from '../../html/values.ts';
import { ConsoleError, orderOf, type Page } from '../../page/page.ts';
import { rangeForm, timeRangeOf } from '../time-range.ts';
import { dayCharts } from './day-charts.ts';
import { siteBadge } from './sites.ts';

type SiteRow = ConsoleRow<'site'>;
type DayRow = ConsoleRow<'site_days'>;
type OfferRow = ConsoleRow<'site_offers'>;

const dayColumns: readonly Column<DayRow>[] = [
  { name: 'day', title: 'Day' },
  { name: 'clicks', title: 'Clicks', kind: 'number' },
  { name: 'conversions', title: 'Conversions', kind: 'number' },
  { name: 'converted_clicks', title: 'Converted clicks', kind: 'number' },
  { name: 'gross_earnings', title: 'Earnings, gross, USD', kind: 'money' },
  { name: 'earnings_after_commission', title: 'After commission, USD', kind: 'money' },
];

const offerColumns: readonly Column<OfferRow>[] = [
  { name: 'offer_id', title: 'Offer', kind: 'number', link: 'offers', sortable: true },
  { name: 'title', title: 'Title', sortable: true },
  { name: 'clicks', title: 'Clicks', kind: 'number', figure: 'clicks', sortable: true },
  { name: 'conversions', title: 'Conversions', kind: 'number', figure: 'conversions', sortable: true },
  { name: 'earnings', title: 'Earnings, gross, USD', kind: 'money', figure: 'earnings', sortable: true },
  { name: 'epc', title: 'EPC, USD', kind: 'money', figure: 'epc', sortable: true },
  { name: 'cvr', title: 'CVR', kind: 'percent', figure: 'cvr', sortable: true },
];

export const sitePage: Page = {
  path: '/sites/:key',
  live: true,
  async show({ snapshot, path, address, part, user, data }) {
    const site_key = path['key'] ?? '';
    const range = timeRangeOf(address, snapshot.asOf);
    const order = orderOf(address, offerColumns);
    const [site] = (await snapshot.ask('site', { parameters: { site_key } })).rows;
    if (site === undefined)
      throw new ConsoleError(404, `Neither sites.json nor any click has a site "${site_key}"; /sites lists all sites.`);
    const days = await snapshot.ask('site_days', { parameters: { site_key, ...range } });
    // Only on request: the statement reads all clicks of two days.
    const offers =
      address.get('by') === 'offer'
        ? await snapshot.ask('site_offers', { parameters: { site_key }, order, part })
        : undefined;
    return {
      title: site.name === null ? `Site ${site_key}` : `Site ${site_key}, ${site.name}`,
      question: 'What does this site send and earn, with which offers, and does it get its postbacks?',
      parts: [
        factsOf(site),
        hasPostbackAddress(data, site_key)
          ? actionForm(user, { action: 'test-postback', title: 'Send a test postback', values: { site_key } })
          : html`<p class="quiet">sites.json has no postback address for this site, so it gets no postbacks.</p>`,
        offers === undefined
          ? html`<p><a href="${address.with({ by: 'offer' }).href}">Its offers of yesterday and today</a></p>`
          : dataTable<OfferRow>({
              name: 'offers',
              caption: 'Its offers of yesterday and today',
              columns: offerColumns,
              ...offers,
              command: sqlCommand('figures_by_site()', 'site_key', site_key),
              empty: 'Yesterday and today the site sent no click, and none of its conversions was credited.',
            }),
        rangeForm(address, range, snapshot.asOf),
        dataTable<DayRow>({
          name: 'days',
          caption: 'Day by day',
          columns: dayColumns,
          ...days,
          command: sqlCommand('site_daily', 'site_key', site_key),
          empty: html`There is no data of these days. <code>offerline run refresh</code> reads new click logs.`,
        }),
        dayCharts(
          days.rows.map((row) => ({ ...row, earnings: row.gross_earnings })),
          snapshot.asOf,
        ),
      ],
    };
  },
};

/** Live: operators add an address, and test it at once. The overview reports a broken `sites.json`. */
function hasPostbackAddress({ sitesFile }: DataDirectory, site: string): boolean {
  try {
    return readSites(sitesFile).sites.some(({ site_key, postback }) => site_key === site && postback !== undefined);
  } catch {
    return false;
  }
}

function factsOf(site: SiteRow): Html {
  const { status, commission, commission_changed_at, reward_rate, rate_limit_per_hour, variant, lag_seconds_p95 } =
    site;
  const postbacks = `/postbacks?site=${encodeURIComponent(site.site_key)}`;
  const changedAt = commission_changed_at !== null && html`, changed ${moment(commission_changed_at)}`;
  const isConfigured = commission !== null;
  return facts([
    [
      'Status',
      status === null ? 'sites.json lacks this site: its clicks count, its postbacks wait' : siteBadge(status),
    ],
    ['Commission', isConfigured && html`${percentValue(commission)} of a payout${changedAt}`],
    ['Points for one USD', isConfigured && html`${reward_rate}`],
    ['Requests per hour', isConfigured && html`${rate_limit_per_hour} for each bucket, variant ${variant}`],
    [
      'Postbacks',
      html`<a href="${postbacks}&state=pending">${numberText(site.waiting)} waiting</a>,
        <a href="${postbacks}&state=dead">${numberText(site.dead)} dead</a>`,
    ],
    [
      'Lag, 95th percentile',
      lag_seconds_p95 === null
        ? missing('no postback of yesterday and today is delivered')
        : `${lag_seconds_p95} s, for postbacks written yesterday and today`,
    ],
  ]);
}
