import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { readSites, type Site } from '../../../kit/sites/sites.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { actionForm } from '../../html/action-form.ts';
import { html, nothing, type Html } from '../../../kit/html/html.ts';
import { sqlCommand } from '../../html/sql-command.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, missing, shownNumber } from '../../html/values.ts';
import { ConsoleError, orderOf, type Page } from '../../page/page.ts';
import { rangeForm, timeRangeOf } from '../time-range.ts';
import { dayCharts } from './day-charts.ts';
import { publishedTerms, termFacts, writtenTerms } from './site-terms.ts';
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
    const [published] = (await snapshot.ask('site', { parameters: { site_key } })).rows;
    const { written, mistake } = writtenSite(data, site_key);
    if (published === undefined && written === undefined) throw noSite(site_key, mistake);
    const site = published ?? { ...unknownSite, site_key };
    const name = written?.name ?? site.name ?? '';
    const days = await snapshot.ask('site_days', { parameters: { site_key, ...range } });
    // Only on request: the statement reads all clicks of two days.
    const offers =
      address.get('by') === 'offer'
        ? await snapshot.ask('site_offers', { parameters: { site_key }, order, part })
        : undefined;
    return {
      title: name === '' ? `Site ${site_key}` : `Site ${site_key}, ${name}`,
      question: 'What does this site send and earn, with which offers, and does it get its postbacks?',
      parts: [
        mistake !== undefined && html`<p class="error" role="alert">${mistake}</p>`,
        written !== undefined &&
          site.status === null &&
          html`<p class="quiet">
            This snapshot was published before sites.json had this site; the next one has it.
          </p>`,
        factsOf(site, written, mistake),
        changesOf(written, user, site_key),
        written !== undefined &&
          (written.postback !== undefined
            ? actionForm(user, { action: 'test-postback', title: 'Send a test postback', values: { site_key } })
            : html`<p class="quiet">sites.json has no postback address for this site, so it gets no postbacks.</p>`),
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

/** Live: operators change a site, and go on at once. `mistake`: why `sites.json` cannot be read. */
function writtenSite({ sitesFile }: DataDirectory, key: string): { written?: Site | undefined; mistake?: string } {
  try {
    return { written: readSites(sitesFile).sites.find(({ site_key }) => site_key === key) };
  } catch (error) {
    return { mistake: (error as Error).message };
  }
}

/** A site that the snapshot lacks. */
const unknownSite: SiteRow = {
  site_key: '',
  name: null,
  status: null,
  variant: null,
  commission: null,
  commission_changed_at: null,
  reward_rate: null,
  rate_limit_per_hour: null,
  commissions: null,
  offers: null,
  waiting: 0,
  dead: 0,
  lag_seconds_p95: null,
};

function noSite(site_key: string, mistake: string | undefined): ConsoleError {
  if (mistake !== undefined)
    return new ConsoleError(404, `No click of this snapshot has a site "${site_key}", and sites.json cannot be read.`);
  return new ConsoleError(404, `Neither sites.json nor any click has a site "${site_key}"; /sites lists all sites.`);
}

/** Forms that change the site. */
function changesOf(site: Site | undefined, user: { role: string }, site_key: string): Html {
  if (site === undefined || user.role !== 'operator') return nothing;
  const values = { site_key };
  return html`<details>
    <summary>Change this site</summary>
    <p class="quiet">
      Offers are named <code>offer:1000001</code>, <code>source:north</code>, <code>category:Games</code> or
      <code>format:PTC</code>. Feeds follow with the next refresh; clicks, status and secrets within seconds.
    </p>
    ${actionForm(user, {
      action: 'set-site',
      title: 'Change it',
      values,
      fields: [
        { name: 'commission', title: 'Commission, from 0 to 1' },
        { name: 'commission_of', title: 'Of some offers, such as source:north=0.3' },
        { name: 'allow', title: 'Allow' },
        { name: 'deny', title: 'Deny' },
        { name: 'remove', title: 'Take out of both' },
      ],
    })}
    ${
      site.status === 'active'
        ? actionForm(user, { action: 'pause-site', title: 'Pause the site', values })
        : actionForm(user, { action: 'approve-site', title: 'Approve the site', values })
    }
    ${actionForm(user, {
      action: 'rotate-secret',
      title: 'Give it a new secret',
      values,
      fields: [{ name: 'now', title: 'the secret of now ends at once', kind: 'check' }],
    })}
  </details>`;
}

function factsOf(site: SiteRow, written: Site | undefined, mistake: string | undefined): Html {
  const { lag_seconds_p95 } = site;
  const postbacks = `/postbacks?site=${encodeURIComponent(site.site_key)}`;
  return facts([
    ['Status', statusOf(site, written, mistake)],
    ...termFacts(written && writtenTerms(written), publishedTerms(site), site.commission_changed_at),
    [
      'Postbacks',
      html`<a href="${postbacks}&state=pending">${shownNumber(site.waiting)} waiting</a>,
        <a href="${postbacks}&state=dead">${shownNumber(site.dead)} dead</a>`,
    ],
    [
      'Lag, 95th percentile',
      lag_seconds_p95 === null
        ? missing('no postback of yesterday and today is delivered')
        : `${lag_seconds_p95} s, for postbacks written yesterday and today`,
    ],
  ]);
}

/** As `sites.json` says it now, else as the snapshot does. */
function statusOf({ status }: SiteRow, written: Site | undefined, mistake: string | undefined): Html {
  if (mistake !== undefined)
    return status === null ? missing('this snapshot has none, and sites.json cannot be read') : siteBadge(status);
  if (written === undefined) return html`sites.json lacks this site: its clicks count, its postbacks wait`;
  if (status === null || status === written.status) return siteBadge(written.status);
  return html`${siteBadge(written.status)}, ${status} in this snapshot`;
}
