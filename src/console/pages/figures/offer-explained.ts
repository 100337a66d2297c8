import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { moment, unknown } from '../../html/figures.ts';
import { html, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import { orderOf, type Page } from '../../page/page.ts';
import { offerIdOf } from './offer.ts';

type ExplainedRow = ConsoleRow<'offer_explained'>;

const columns: readonly Column<ExplainedRow>[] = [
  { name: 'happened_at', title: 'When', sortable: true, show: ({ happened_at }) => moment(happened_at) },
  { name: 'what', title: 'What', sortable: true },
  {
    name: 'click_id',
    title: 'Click',
    show: ({ click_id }) => html`<a href="/clicks/${encodeURIComponent(click_id)}">${click_id}</a>`,
  },
  {
    name: 'conversion_id',
    title: 'Conversion',
    show: ({ conversion_id }) => (conversion_id === null ? unknown('it is a click') : html`${conversion_id}`),
  },
  { name: 'site_key', title: 'Site', sortable: true },
  {
    name: 'status',
    title: 'Status',
    sortable: true,
    show: ({ status }) => (status === null ? unknown('it is a click') : html`${status}`),
  },
  { name: 'payout', title: 'Payout, USD', kind: 'money', sortable: true },
  { name: 'in_clicks', title: 'In clicks', figure: 'clicks', show: ({ in_clicks }) => counted(in_clicks) },
  {
    name: 'in_conversions',
    title: 'In conversions',
    figure: 'conversions',
    show: ({ in_conversions }) => counted(in_conversions),
  },
  {
    name: 'in_conversions_24h',
    title: 'In last 24 h',
    figure: 'conversions_24h',
    show: ({ in_conversions_24h }) => counted(in_conversions_24h),
  },
  {
    name: 'in_conversions_prior_24h',
    title: 'In 24 h before',
    figure: 'conversions_prior_24h',
    show: ({ in_conversions_prior_24h }) => counted(in_conversions_prior_24h),
  },
];

/** Which clicks and conversions make the figures of an offer? */
export const offerExplainedPage: Page = {
  path: '/offers/:id/explained',
  async show({ snapshot, path, address, part }) {
    const offer_id = offerIdOf(path);
    const order = orderOf(address, columns);
    // By another column than the time any of them may come first.
    const newest = order === undefined ? part.first + part.rows : Number.MAX_SAFE_INTEGER;
    const parameters = { offer_id, newest: String(newest) };
    const answer = await snapshot.ask('offer_explained', { parameters, order, part });
    const all = await snapshot.ask('offer_explained_rows', { parameters: { offer_id } });
    return {
      title: `Behind the figures of offer ${offer_id}`,
      question: 'Which clicks and conversions make its figures, and which do not count, and where?',
      parts: [
        html`<p><a href="/offers/${offer_id}">The offer</a></p>`,
        table<ExplainedRow>({
          name: 'explained',
          caption: 'Clicks and conversions of the figures’ windows',
          columns,
          ...answer,
          total: all.rows[0]?.of_rows,
          command: `offerline sql "FROM figures_explained(${offer_id})"`,
          empty: 'No click and no conversion of it lies in the windows of its figures.',
        }),
      ],
    };
  },
};

function counted(counts: boolean): Html {
  return counts ? html`yes` : html`<span class="quiet">no</span>`;
}
