import type { z } from 'zod';
import { html, type Html } from '../../../kit/html/html.ts';
import { conversionStatuses, deliveryStates } from '../../../kit/vocabulary/values.ts';
import { addDays, dayOf } from '../../../kit/time/moment.ts';
import { conversionRecordsBody, postbackRecordsBody, statementBody } from '../../variant-c/records/bodies.ts';
import { conversionRecords } from '../../variant-c/records/conversions.ts';
import { postbackRecords } from '../../variant-c/records/postbacks.ts';
import { statement } from '../../variant-c/records/statement.ts';
import {
  nextPage,
  portalFilters,
  portalMoment,
  portalNumber,
  portalTable,
  type PortalColumn,
  type PortalFilter,
} from '../portal-parts.ts';
import type { PortalPage } from '../portal-page.ts';
import { resendForm } from './orders.ts';

type Day = Omit<z.output<typeof statementBody>['days'][number], 'day'> & { day: string };
type Conversion = z.output<typeof conversionRecordsBody>['conversions'][number];
type SentPostback = z.output<typeof postbackRecordsBody>['postbacks'][number];

const days: readonly PortalFilter[] = [
  { name: 'from', title: 'From', type: 'date' },
  { name: 'to', title: 'To', type: 'date' },
];
const pageRows = '100';

const sums = {
  clicks: 'Clicks',
  conversions: 'Conversions',
  reversed: 'Reversed',
  rejected: 'Rejected',
  earnings: 'Earnings, USD',
  rewards: 'Rewards, points',
} as const;
const statementColumns: readonly PortalColumn<Day>[] = [
  { title: 'Day', cell: ({ day }) => day },
  ...(Object.keys(sums) as (keyof typeof sums)[]).map((name) => ({
    title: sums[name],
    cell: (row: Day) => portalNumber(row[name]),
    isNumber: true,
  })),
];

/** The site's days: the last 30 unless others are asked for. */
export const statementPage: PortalPage = {
  path: '/portal',
  title: 'Statement',
  async show({ asked, asOf, ask }) {
    const isBounded = asked['from'] !== undefined || asked['to'] !== undefined;
    const shown = isBounded ? asked : { from: addDays(dayOf(asOf), -29) };
    const { days: rows, totals } = await ask(statement, statementBody, shown);
    return html`${portalFilters('/portal', days, shown)}
    ${portalTable('Your days', statementColumns, rows.toReversed(), {
      empty: 'No click and no conversion in these days.',
      total: { day: 'All days', ...totals },
    })}
    <p>
      Conversions count on the day of their credit. Those that were taken back later count there as reversed or
      rejected, and their rewards no more.
    </p>`;
  },
};

const conversionColumns: readonly PortalColumn<Conversion>[] = [
  { title: 'Conversion', cell: ({ conversion_id }) => conversion_id },
  { title: 'Status', cell: ({ status }) => status },
  { title: 'Occurred', cell: ({ occurred_at }) => portalMoment(occurred_at) },
  { title: 'User', cell: ({ user_id }) => user_id },
  {
    title: 'Offer',
    cell: ({ offer_id, offer_title }) => html`${offer_title ?? '–'} ${offer_id !== null && `(${offer_id})`}`,
  },
  { title: 'Milestone', cell: ({ event_id }) => event_id ?? '–' },
  { title: 'Payout, USD', cell: ({ payout }) => portalNumber(payout), isNumber: true },
  { title: 'Reward, points', cell: ({ reward }) => portalNumber(reward), isNumber: true },
  { title: 'Taken back', cell: ({ reversed_at }) => portalMoment(reversed_at) },
  { title: 'Reason', cell: ({ reason }) => reason ?? '–' },
  { title: 'Click', cell: ({ click_id }) => click_id },
  { title: 'sub1', cell: ({ sub1 }) => sub1 ?? '–' },
  { title: 'sub2', cell: ({ sub2 }) => sub2 ?? '–' },
];

/** The site's conversions, by id. */
export const conversionsPage: PortalPage = {
  path: '/portal/conversions',
  title: 'Conversions',
  async show({ asked, ask }) {
    const { conversions, next_cursor: cursor } = await ask(conversionRecords, conversionRecordsBody, {
      ...asked,
      limit: pageRows,
    });
    const filters = [
      ...days,
      { name: 'status', title: 'Status', words: conversionStatuses },
      { name: 'user_id', title: 'User' },
      { name: 'click_id', title: 'Click' },
    ];
    return html`${portalFilters(this.path, filters, asked)}
    ${portalTable('Your conversions, by id', conversionColumns, conversions, { empty: 'None meets this.' })}
    ${nextPage(this.path, asked, cursor === null ? undefined : { cursor })}`;
  },
};

const postbackColumns: readonly PortalColumn<SentPostback>[] = [
  { title: 'Postback', cell: ({ postback_id }) => postback_id },
  { title: 'Event', cell: ({ event }) => event },
  { title: 'Conversion', cell: ({ conversion_id }) => conversion_id },
  { title: 'Reward, points', cell: ({ reward }) => portalNumber(reward), isNumber: true },
  { title: 'Written', cell: ({ written_at }) => portalMoment(written_at) },
  { title: 'State', cell: ({ state }) => state },
  { title: 'Attempts', cell: attemptsOf },
  { title: 'Next attempt', cell: ({ next_attempt_at }) => portalMoment(next_attempt_at) },
  { title: 'Send again', cell: resendForm },
];

/** The site's postbacks with their attempts; each can be sent again, and a test can be sent. */
export const portalPostbacksPage: PortalPage = {
  path: '/portal/postbacks',
  title: 'Postbacks',
  async show({ asked, ask, site }) {
    const { postbacks, next_cursor: cursor } = await ask(postbackRecords, postbackRecordsBody, {
      ...asked,
      limit: pageRows,
    });
    const filters = [...days, { name: 'state', title: 'State', words: deliveryStates }];
    return html`${
      site.postback === undefined
        ? html`<p>You have no postback address: ask us to enter one.</p>`
        : html`<form method="post" action="/portal/test">
          <p>
            <button>Send a test postback</button> It has the reward 0, for a click that does not exist, and is signed as
            any other.
          </p>
        </form>`
    }
    ${portalFilters(this.path, filters, asked)}
    ${portalTable('Your postbacks, by id', postbackColumns, postbacks, { empty: 'None meets this.' })}
    ${nextPage(this.path, asked, cursor === null ? undefined : { cursor })}`;
  },
};

function attemptsOf({ attempts, kept_attempts }: SentPostback): Html {
  if (kept_attempts.length === 0) return html`${portalNumber(attempts)}`;
  return html`<details>
    <summary>${portalNumber(attempts)}</summary>
    <ol>
      ${kept_attempts.map(
        ({ started_at, status, error, duration_ms }) =>
          html`<li>${portalMoment(started_at)}: ${error ?? 'delivered'}${status !== null && `, status ${status}`}, ${duration_ms} ms</li> `,
      )}
    </ol>
  </details>`;
}
