import { lineChart } from '../../charts/line-chart.ts';
import { ConsoleError } from '../../page/console-error.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { actionForm } from '../../html/action-form.ts';
import { figureText, moment, unknown } from '../../html/figures.ts';
import { html, type Html } from '../../html/html.ts';
import { sqlCommand } from '../../html/sql-command.ts';
import { table, type Column } from '../../html/table.ts';
import { orderOf, type Page } from '../../page/page.ts';
import { siteState } from './sites.ts';
import { rangeForm, timeRangeOf } from './time-range.ts';

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
  {
    name: 'offer_id',
    title: 'Offer',
    kind: 'number',
    sortable: true,
    show: ({ offer_id }) => html`<a href="/offers/${offer_id}">${offer_id}</a>`,
  },
  { name: 'title', title: 'Title', sortable: true },
  { name: 'clicks', title: 'Clicks', kind: 'number', figure: 'clicks', sortable: true },
  { name: 'conversions', title: 'Conversions', kind: 'number', figure: 'conversions', sortable: true },
  { name: 'earnings', title: 'Earnings, gross, USD', kind: 'money', figure: 'earnings', sortable: true },
  { name: 'epc', title: 'EPC, USD', kind: 'money', figure: 'epc', sortable: true },
  { name: 'cvr', title: 'CVR', kind: 'number', figure: 'cvr', sortable: true },
];

/** What does one site send and earn, by which offers, and is it told? */
export const sitePage: Page = {
  path: '/sites/:key',
  async show({ snapshot, path, address, part, user }) {
    const site_key = path['key'] ?? '';
    const range = timeRangeOf(address, snapshot.asOf);
    const order = orderOf(address, offerColumns);
    const [site] = (await snapshot.ask('site', { parameters: { site_key } })).rows;
    if (site === undefined)
      throw new ConsoleError(
        404,
        `Neither sites.json nor any click has a site "${site_key}"; /sites has those there are.`,
      );
    const days = await snapshot.ask('site_days', { parameters: { site_key, ...range } });
    // Only when asked for: it reads all clicks of two days.
    const offers =
      address.get('by') === 'offer'
        ? await snapshot.ask('site_offers', { parameters: { site_key }, order, part })
        : undefined;
    const inOrder = days.rows.toReversed();
    const clicks = inOrder.reduce((sum, row) => sum + row.clicks, 0);
    return {
      title: site.name === null ? `Site ${site_key}` : `Site ${site_key}, ${site.name}`,
      question: 'What does it send and earn, by which offers, and is it told?',
      parts: [
        facts(site),
        ...(site.name === null
          ? []
          : [actionForm(user, { action: 'test-postback', title: 'Send a test postback', values: { site_key } })]),
        offers === undefined
          ? html`<p><a href="${address.with({ by: 'offer' }).href}">Its offers of yesterday and today</a></p>`
          : table<OfferRow>({
              name: 'offers',
              caption: 'Its offers of yesterday and today',
              columns: offerColumns,
              ...offers,
              command: sqlCommand('figures_by_site()', 'site_key', site_key),
              empty: 'No click of it came yesterday or today, and no conversion was credited.',
            }),
        rangeForm(address, range),
        table<DayRow>({
          name: 'days',
          caption: 'Day by day',
          columns: dayColumns,
          ...days,
          command: sqlCommand('site_daily', 'site_key', site_key),
          empty: html`Nothing is known of these days. Clicks come with <code>offerline run refresh</code> once a log has landed.`,
        }),
        ...(inOrder.length < 2
          ? []
          : [
              html`<div class="multiples">
                ${await lineChart(`Clicks by day: ${figureText(clicks)} in all.`, { values: inOrder.map(({ day, clicks: value }) => ({ at: day, value })) })}${await lineChart('Gross earnings by day, USD.', { values: inOrder.map(({ day, gross_earnings }) => ({ at: day, value: Number(gross_earnings) })) })}
              </div>`,
            ]),
      ],
    };
  },
};

function facts(site: SiteRow): Html {
  const { status, commission, reward_rate, rate_limit_per_hour: limit } = site;
  const postbacks = `/postbacks?site=${encodeURIComponent(site.site_key)}`;
  return html`<dl class="facts">
    <dt>Status</dt>
    <dd>${status === null ? 'sites.json lacks it: its clicks count, its postbacks wait' : siteState(status)}</dd>
    ${
      commission !== null &&
      html`<dt>Commission</dt>
        <dd>
          ${figureText(commission)} of a
          payout${site.commission_changed_at !== null && html`, changed ${moment(site.commission_changed_at)}`}
        </dd>
        <dt>Points for one USD</dt>
        <dd>${reward_rate}</dd>
        <dt>Requests an hour</dt>
        <dd>${limit} for each bucket, variant ${site.variant}</dd>`
    }
    <dt>Postbacks</dt>
    <dd>
      <a href="${postbacks}&state=pending">${figureText(site.waiting)} waiting</a>,
      <a href="${postbacks}&state=dead">${figureText(site.dead)} dead</a>
    </dd>
    <dt>Lag, 95th percentile</dt>
    <dd>
      ${site.lag_seconds_p95 === null ? unknown('no postback of yesterday and today is delivered') : `${site.lag_seconds_p95} s, of those written yesterday and today`}
    </dd>
  </dl>`;
}
