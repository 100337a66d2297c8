import { versionStatuses } from '../../../kit/vocabulary/values.ts';
import { sparkline } from '../../charts/sparkline.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { badge } from '../../html/badges.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { linkTo } from '../../html/values.ts';
import { orderOf, type Page } from '../../page/page.ts';
import { noRank, trendText } from './figure-columns.ts';

type OfferRow = ConsoleRow<'offers'>;

const columns: readonly Column<OfferRow>[] = [
  {
    name: 'title',
    title: 'Offer',
    sortable: true,
    show: ({ offer_id, title }) => linkTo('offers', offer_id, title),
  },
  { name: 'rank', title: 'Rank', kind: 'number', figure: 'rank', sortable: true, whyNone: noRank },
  {
    name: 'status',
    title: 'Status',
    sortable: true,
    show: ({ status }) => badge(status, status === 'active' ? 'good' : 'quiet'),
  },
  { name: 'payout', title: 'Payout, USD', kind: 'money', sortable: true },
  { name: 'clicks', title: 'Clicks', kind: 'number', figure: 'clicks', sortable: true },
  { name: 'conversions', title: 'Conversions', kind: 'number', figure: 'conversions', sortable: true },
  { name: 'earnings', title: 'Earnings, USD', kind: 'money', figure: 'earnings', sortable: true },
  { name: 'epc', title: 'EPC, USD', kind: 'money', figure: 'epc', sortable: true },
  { name: 'cvr', title: 'CVR', kind: 'percent', figure: 'cvr', sortable: true },
  { name: 'trend', title: 'Trend', figure: 'trend', sortable: true, show: ({ trend }) => trendText(trend) },
];

const lastColumns: readonly Column<OfferRow>[] = [
  { name: 'source', title: 'Source', sortable: true },
  { name: 'offer_id', title: 'Id', kind: 'number', link: 'offers', sortable: true },
];

/** Conversions of 14 days up to the snapshot's, on one scale for all rows of the page. */
function byDayColumn(rows: readonly OfferRow[]): Column<OfferRow> {
  const greatest = Math.max(0, ...rows.flatMap((row) => row.conversions_by_day));
  return {
    name: 'conversions_by_day',
    title: 'Conversions, 14 days',
    show: ({ conversions_by_day: days }) =>
      sparkline(days, `${Math.max(...days)} at most, ${days.at(-1) ?? 0} today so far`, { greatest, isRunning: true }),
  };
}

export const offersPage: Page = {
  path: '/offers',
  navigation: 'Offers',
  async show({ snapshot, address, part }) {
    const parameters = {
      status: address.get('status') ?? '',
      source: address.get('source') ?? '',
      search: address.get('search') ?? '',
    };
    const offers = await snapshot.ask('offers', {
      parameters,
      order: orderOf(address, [...columns, ...lastColumns]),
      part,
    });
    const sources = await snapshot.ask('offer_sources');
    return {
      title: 'Offers',
      question: `Which offers convert best, and why? Figures are of yesterday and today up to the snapshot's as-of, UTC, over all sites, before commission.`,
      parts: [
        filterForm(address, [
          { name: 'search', title: 'Title or id', example: 'quest' },
          { name: 'status', title: 'Status', choices: versionStatuses },
          { name: 'source', title: 'Source', choices: sources.rows.map(({ source }) => source) },
        ]),
        dataTable<OfferRow>({
          name: 'offers',
          caption: 'Offers',
          columns: [...columns, byDayColumn(offers.rows), ...lastColumns],
          ...offers,
          command: 'offerline sql "FROM offers LEFT JOIN offer_stats_2d USING (offer_id)"',
          empty: html`No offer matches. <code>offerline run refresh</code> reads new catalogs.`,
        }),
      ],
    };
  },
};
