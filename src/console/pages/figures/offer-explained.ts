import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { orderOf, type Page } from '../../page/page.ts';
import { offerIdOf } from './offer.ts';

type ExplainedRow = ConsoleRow<'offer_explained'>;

const ofClick = 'a click has none';

const columns: readonly Column<ExplainedRow>[] = [
  { name: 'happened_at', title: 'When', kind: 'moment', sortable: true },
  { name: 'what', title: 'What', sortable: true },
  { name: 'click_id', title: 'Click', link: 'clicks' },
  { name: 'conversion_id', title: 'Conversion', whyNone: ofClick },
  { name: 'site_key', title: 'Site', sortable: true },
  { name: 'status', title: 'Status', sortable: true, whyNone: ofClick },
  { name: 'payout', title: 'Payout, USD', kind: 'money', sortable: true },
  { name: 'in_clicks', title: 'In clicks', figure: 'clicks', show: ({ in_clicks }) => yesOrNo(in_clicks) },
  {
    name: 'in_conversions',
    title: 'In conversions',
    figure: 'conversions',
    show: ({ in_conversions }) => yesOrNo(in_conversions),
  },
  {
    name: 'in_conversions_24h',
    title: 'In last 24 h',
    figure: 'conversions_24h',
    show: ({ in_conversions_24h }) => yesOrNo(in_conversions_24h),
  },
  {
    name: 'in_conversions_prior_24h',
    title: 'In 24 h before',
    figure: 'conversions_prior_24h',
    show: ({ in_conversions_prior_24h }) => yesOrNo(in_conversions_prior_24h),
  },
];

export const offerExplainedPage: Page = {
  path: '/offers/:id/explained',
  async show({ snapshot, path, address, part }) {
    const offer_id = offerIdOf(path);
    const order = orderOf(address, columns);
    // In another order than by time any row may come first, so that the statement has to read all.
    const newest = order === undefined ? part.first + part.rows : Number.MAX_SAFE_INTEGER;
    const parameters = { offer_id, newest: String(newest) };
    const explained = await snapshot.ask('offer_explained', { parameters, order, part });
    const all = await snapshot.ask('offer_explained_rows', { parameters: { offer_id } });
    return {
      title: `Behind the figures of offer ${offer_id}`,
      question: 'Which clicks and conversions do its figures count, and which not?',
      parts: [
        html`<p><a href="/offers/${offer_id}">The offer</a></p>`,
        dataTable<ExplainedRow>({
          name: 'explained',
          caption: 'Clicks and conversions in the windows of the figures',
          columns,
          ...explained,
          total: all.rows[0]?.of_rows,
          command: `offerline sql "FROM figures_explained(${offer_id})"`,
          empty: 'The offer has no click and no conversion in the windows of its figures.',
        }),
      ],
    };
  },
};

function yesOrNo(counts: boolean): Html {
  return counts ? html`yes` : html`<span class="quiet">no</span>`;
}
