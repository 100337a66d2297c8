import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { badge } from '../../html/badges.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, linkTo, missing, moment, moneyValue } from '../../html/values.ts';
import { ConsoleError, type Page } from '../../page/page.ts';
import { rangeForm, timeRangeOf } from '../time-range.ts';
import { dayCharts } from './day-charts.ts';
import { figureColumns, sumColumns } from './figure-columns.ts';

type OfferRow = ConsoleRow<'offer'>;
type DayRow = ConsoleRow<'offer_days'>;
type SiteRow = ConsoleRow<'offer_sites'>;
type ChangeRow = ConsoleRow<'offer_changes'>;

/** Without links to definitions: those of /figures are of the window, not of a day. */
const dayColumns: readonly Column<DayRow>[] = [
  { name: 'day', title: 'Day' },
  ...sumColumns.map(({ figure: _figure, ...column }) => column),
];

const siteColumns: readonly Column<SiteRow>[] = [{ name: 'site_key', title: 'Site', link: 'sites' }, ...sumColumns];

const changeColumns: readonly Column<ChangeRow>[] = [
  { name: 'version', title: 'Version', kind: 'number' },
  { name: 'valid_from', title: 'Since', kind: 'moment' },
  { name: 'run_id', title: 'Run', kind: 'number', link: 'runs' },
  { name: 'field', title: 'Field' },
  { name: 'before', title: 'Before', show: ({ before }) => changed(before, 'del') },
  { name: 'after', title: 'Now', show: ({ after }) => changed(after, 'ins') },
];

export const offerPage: Page = {
  path: '/offers/:id',
  async show({ snapshot, path, address }) {
    const offer_id = offerIdOf(path);
    const range = timeRangeOf(address, snapshot.asOf);
    const found = await snapshot.ask('offer', { parameters: { offer_id } });
    const [offer] = found.rows;
    if (offer === undefined) throw noOffer(offer_id);
    const days = await snapshot.ask('offer_days', { parameters: { offer_id, ...range } });
    // Only on request: the statement reads all clicks of two days.
    const sites =
      address.get('by') === 'site' ? await snapshot.ask('offer_sites', { parameters: { offer_id } }) : undefined;
    const changes = await snapshot.ask('offer_changes', { parameters: { offer_id } });
    return {
      title: `Offer ${offer_id}, ${offer.title}`,
      question: 'What does this offer earn, on which sites, and what did its catalog change? Money is gross.',
      parts: [
        factsOf(offer),
        dataTable<OfferRow>({
          name: 'figures',
          caption: 'Figures of yesterday and today, all sites',
          columns: figureColumns,
          ...found,
          command: `offerline sql "FROM offer_stats_2d WHERE offer_id = ${offer_id}"`,
          empty: '',
        }),
        html`<p><a href="/offers/${offer_id}/explained">The clicks and conversions behind these figures</a></p>`,
        sites === undefined
          ? html`<p><a href="${address.with({ by: 'site' }).href}">These figures by site</a></p>`
          : dataTable<SiteRow>({
              name: 'sites',
              caption: 'Figures by site',
              columns: siteColumns,
              ...sites,
              command: `offerline sql "FROM figures_by_site() WHERE offer_id = ${offer_id}"`,
              empty:
                'Yesterday and today no site sent a click of this offer, and none of its conversions was credited.',
            }),
        rangeForm(address, range, snapshot.asOf),
        dataTable<DayRow>({
          name: 'days',
          caption: 'Day by day',
          columns: dayColumns,
          ...days,
          command: `offerline sql "FROM offer_daily WHERE offer_id = ${offer_id}"`,
          empty: html`There is no data of these days. <code>offerline run refresh</code> reads new click logs.`,
        }),
        dayCharts(days.rows, snapshot.asOf),
        dataTable<ChangeRow>({
          name: 'changes',
          caption: 'Changes in its catalog',
          columns: changeColumns,
          ...changes,
          command: `offerline sql "FROM offer_history WHERE offer_id = ${offer_id}"`,
          empty: 'None: the offer is as its catalog first had it.',
        }),
      ],
    };
  },
};

const maxOfferId = 2 ** 31 - 1;

/** The id in the path of an offer's page. Throws where no offer can have it. */
export function offerIdOf({ id = '' }: Readonly<Record<string, string>>): string {
  if (!/^[1-9]\d{0,9}$/.test(id) || Number(id) > maxOfferId) throw noOffer(id);
  return id;
}

function noOffer(id: string): ConsoleError {
  return new ConsoleError(
    404,
    `No catalog has had an offer ${id}; /search finds offers by the id of their source, too.`,
  );
}

function factsOf(offer: OfferRow): Html {
  const { status } = offer;
  const kind = status === 'active' ? 'good' : status === 'paused' ? 'waiting' : 'quiet';
  return facts([
    ['Status', html`${badge(status, kind)}${status === 'vanished' && html`, ${removalOf(offer)}`}`],
    ['Source', `${offer.source}, external id ${offer.external_id}`],
    ['Payout, USD', moneyValue(offer.payout)],
    ['Countries', offer.countries.length === 0 ? 'worldwide' : offer.countries.join(', ')],
    ['Devices', offer.devices.length === 0 ? 'all' : offer.devices.join(', ')],
    ['Created', moment(offer.created_at)],
    ['Changed', html`${moment(offer.updated_at)}, version ${offer.version}`],
  ]);
}

function removalOf({ removed_at, gone_run_id, gone_file_id, gone_path, source }: OfferRow): Html {
  const run = gone_run_id === null ? missing('no run has recorded it') : linkTo('runs', gone_run_id);
  const file =
    gone_file_id === null ? html`the export of ${source}` : linkTo('files', gone_file_id, gone_path ?? gone_file_id);
  return html`removed at ${moment(removed_at)}: run ${run} read ${file}, which no longer has the offer or marks it as gone`;
}

function changed(value: string | null, tag: 'del' | 'ins'): Html {
  if (value === null) return missing('no value');
  const text = value === '' || value === '[]' ? html`<span class="quiet">empty</span>` : html`${value}`;
  return tag === 'del' ? html`<del>${text}</del>` : html`<ins>${text}</ins>`;
}
