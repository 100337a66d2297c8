import type { z } from 'zod';
import { html } from '../../../kit/html/html.ts';
import { offersBodyC } from '../../variant-c/bodies.ts';
import { offersC } from '../../variant-c/offer-list.ts';
import { nextPage, portalFilters, portalNumber, portalTable, type PortalColumn } from '../portal-parts.ts';
import type { PortalPage } from '../portal-page.ts';

type Offer = z.output<typeof offersBodyC>['offers'][number];

const pageRows = 100;

const columns: readonly PortalColumn<Offer>[] = [
  { title: 'Offer', cell: ({ id, title }) => html`${title} (${id})` },
  { title: 'Payout, USD', cell: ({ payout }) => portalNumber(payout), isNumber: true },
  {
    title: 'Milestones',
    cell: ({ events }) =>
      events === undefined
        ? '–'
        : html`<ul>
            ${events.map(({ description, payout }) => html`<li>${description}: ${portalNumber(payout)}</li> `)}
          </ul>`,
  },
  { title: 'Countries', cell: ({ countries }) => countries.join(' ') || 'all' },
  { title: 'Devices', cell: ({ devices }) => devices.join(' ') || 'all' },
  { title: 'Categories', cell: ({ categories }) => categories.join(', ') || '–' },
  { title: 'Your link', cell: ({ tracking_url }) => html`<code>${tracking_url}</code>` },
];

/** The offers that the site may have, each with its link. */
export const feedPage: PortalPage = {
  path: '/portal/feed',
  title: 'Offers and links',
  async show({ asked, ask }) {
    const {
      offers,
      total,
      offset,
      has_more: hasMore,
    } = await ask(offersC, offersBodyC, {
      ...asked,
      limit: String(pageRows),
    });
    const filters = [
      { name: 'type', title: 'Type', words: ['offer', 'multireward'], otherwise: 'offer' },
      { name: 'country', title: 'Country' },
      { name: 'device', title: 'Device', words: ['android', 'ios', 'desktop'] },
      { name: 'category', title: 'Category' },
    ];
    return html`${portalFilters(this.path, filters, asked)}
    <p>
      ${portalNumber(total)} offers. In a link, put your user’s percent-encoded id in place of <code>{user_id}</code>;
      <code>?sub1=…&amp;sub2=…</code> may follow.
    </p>
    ${portalTable('Your offers', columns, offers, { empty: 'None meets this.' })}
    ${nextPage(this.path, asked, hasMore ? { offset: String(offset + pageRows) } : undefined)}`;
  },
};
