import { lineChart } from '../../charts/line-chart.ts';
import { ConsoleError } from '../../page/console-error.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { figureText, moment, state, unknown } from '../../html/figures.ts';
import { html, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import type { Page } from '../../page/page.ts';
import { figureColumns, type WindowFigures } from './figure-columns.ts';
import { changesTable, type Change } from './offer-changes.ts';
import { rangeForm, timeRangeOf } from './time-range.ts';

type OfferRow = ConsoleRow<'offer'>;

type DayRow = ConsoleRow<'offer_days'>;

type SiteRow = ConsoleRow<'offer_sites'>;

const sumColumns: readonly Column<Omit<DayRow, 'day'>>[] = [
  { name: 'clicks', title: 'Clicks', kind: 'number', figure: 'clicks' },
  { name: 'conversions', title: 'Conversions', kind: 'number', figure: 'conversions' },
  { name: 'converted_clicks', title: 'Converted clicks', kind: 'number', figure: 'converted_clicks' },
  { name: 'earnings', title: 'Earnings, USD', kind: 'money', figure: 'earnings' },
  { name: 'epc', title: 'EPC, USD', kind: 'money', figure: 'epc' },
  { name: 'cvr', title: 'CVR', kind: 'number', figure: 'cvr' },
];

/** Of single days: the meanings that /figures has are those of the window. */
const dayColumns: readonly Column<DayRow>[] = [
  { name: 'day', title: 'Day' },
  ...sumColumns.map(({ figure: _figure, ...column }) => column),
];

const siteColumns: readonly Column<SiteRow>[] = [
  {
    name: 'site_key',
    title: 'Site',
    show: ({ site_key }) => html`<a href="/sites/${encodeURIComponent(site_key)}">${site_key}</a>`,
  },
  ...sumColumns,
];

/** What does one offer bring, where, and what has changed of it? */
export const offerPage: Page = {
  path: '/offers/:id',
  async show({ snapshot, path, address }) {
    const offer_id = offerIdOf(path);
    const range = timeRangeOf(address, snapshot.asOf);
    const found = await snapshot.ask('offer', { parameters: { offer_id } });
    const [offer] = found.rows;
    if (offer === undefined) throw noOffer(offer_id);
    const days = await snapshot.ask('offer_days', { parameters: { offer_id, ...range } });
    // Only when asked for: it reads all clicks of two days.
    const sites =
      address.get('by') === 'site' ? await snapshot.ask('offer_sites', { parameters: { offer_id } }) : undefined;
    const changes = await snapshot.ask('offer_changes', { parameters: { offer_id } });
    const inOrder = days.rows.toReversed();
    const clicks = inOrder.reduce((sum, row) => sum + row.clicks, 0);
    return {
      title: `Offer ${offer_id}, ${offer.title}`,
      question: 'What does it bring, where, and what has changed of it? Money is gross.',
      parts: [
        facts(offer),
        table<OfferRow>({
          name: 'figures',
          caption: 'Figures of yesterday and today, all sites',
          columns: figureColumns,
          ...found,
          command: `offerline sql "FROM offer_stats_2d WHERE offer_id = ${offer_id}"`,
          empty: '',
        }),
        html`<p><a href="/offers/${offer_id}/explained">The clicks and conversions behind these figures</a></p>`,
        sites === undefined
          ? html`<p><a href="${address.with({ by: 'site' }).href}">The same by site</a></p>`
          : table<SiteRow>({
              name: 'sites',
              caption: 'The same by site',
              columns: siteColumns,
              ...sites,
              command: `offerline sql "FROM figures_by_site() WHERE offer_id = ${offer_id}"`,
              empty: 'No site sent a click of it yesterday or today, and none of its conversions was credited.',
            }),
        rangeForm(address, range),
        table<DayRow>({
          name: 'days',
          caption: 'Day by day',
          columns: dayColumns,
          ...days,
          command: `offerline sql "FROM offer_daily WHERE offer_id = ${offer_id}"`,
          empty: html`Nothing is known of these days. Clicks come with <code>offerline run refresh</code> once a log has landed.`,
        }),
        inOrder.length > 1 &&
          html`<div class="multiples">
            ${await lineChart(`Clicks by day: ${figureText(clicks)} in all.`, { values: inOrder.map(({ day, clicks: value }) => ({ at: day, value })) })}${await lineChart('Earnings by day, USD, gross.', { values: inOrder.map(({ day, earnings }) => ({ at: day, value: Number(earnings) })) })}
          </div>`,
        changesTable(changes, offer_id),
      ].filter((part) => part !== false),
    };
  },
};

const greatestId = 2 ** 31 - 1;

/** The id in the path of an offer's page. Throws where it cannot be one. */
export function offerIdOf({ id = '' }: Readonly<Record<string, string>>): string {
  if (!/^[1-9]\d{0,9}$/.test(id) || Number(id) > greatestId) throw noOffer(id);
  return id;
}

function noOffer(id: string): ConsoleError {
  return new ConsoleError(404, `No catalog has had an offer ${id}; /search finds offers by the source's id, too.`);
}

function facts(offer: OfferRow): Html {
  const { status } = offer;
  const kind = status === 'active' ? 'good' : status === 'paused' ? 'waiting' : 'quiet';
  return html`<dl class="facts">
    <dt>Status</dt>
    <dd>${state(status, kind)}${status === 'vanished' && html`, ${whyGone(offer)}`}</dd>
    <dt>Source</dt>
    <dd>${offer.source}, where it is ${offer.external_id}</dd>
    <dt>Payout, USD</dt>
    <dd>${figureText(offer.payout, 2)}</dd>
    <dt>Countries</dt>
    <dd>${offer.countries.length === 0 ? 'worldwide' : offer.countries.join(', ')}</dd>
    <dt>Devices</dt>
    <dd>${offer.devices.length === 0 ? 'all' : offer.devices.join(', ')}</dd>
    <dt>Created</dt>
    <dd>${moment(offer.created_at)}</dd>
    <dt>Changed</dt>
    <dd>${moment(offer.updated_at)}, version ${offer.version}</dd>
  </dl>`;
}

function whyGone({ removed_at, gone_run_id, gone_file_id, gone_path, source }: OfferRow): Html {
  const run =
    gone_run_id === null ? unknown('no run says so') : html`<a href="/runs/${gone_run_id}">${gone_run_id}</a>`;
  const file =
    gone_file_id === null
      ? html`the export of ${source} that it read`
      : html`<a href="/files/${gone_file_id}">${gone_path}</a>`;
  return html`gone since ${moment(removed_at)}: ${file} lacked it, or said so, in run ${run}`;
}
