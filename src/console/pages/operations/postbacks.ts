import { momentOfMilliseconds, momentOption } from '../../../kit/time/moment.ts';
import { deliveryStates, type DeliveryStatus } from '../../../kit/vocabulary/values.ts';
import type { DeliveryState } from '../../../postbacks/store/delivery-rows.ts';
import type { DeliveryFilter, FailedPostbacks } from '../../../postbacks/store/query-store.ts';
import { actionForm } from '../../html/action-form.ts';
import type { Address } from '../../html/address.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html, type Html } from '../../html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { numberText, textOrMissing } from '../../html/values.ts';
import type { DeliveryOverview } from '../../live/deliveries.ts';
import { ConsoleError, parameterOf, type Page, type PageRequest } from '../../page/page.ts';

type SiteRow = { site_key: string; paused_until: string | null } & Record<DeliveryStatus, number>;

/** Columns are named as in the analysts' table `postbacks`. */
interface PostbackRow {
  webhook_id: string;
  kind: string;
  state: string;
  site_key: string;
  click_id: string;
  offer_id: number;
  reward: string;
  occurred_at: string;
  attempts: number;
  last_attempt_at: string | null;
  last_status: number | null;
  last_error: string | null;
  next_attempt_at: string | null;
}

const siteColumns: readonly Column<SiteRow>[] = [
  { name: 'site_key', title: 'Site', link: 'sites' },
  ...deliveryStates.map((state) => ({ name: state, title: state, kind: 'number' as const })),
  { name: 'paused_until', title: 'Paused until', kind: 'moment', whyNone: 'it is not paused' },
];

const errorColumns: readonly Column<FailedPostbacks>[] = [
  { name: 'error', title: 'Last error' },
  { name: 'status', title: 'HTTP', kind: 'number', show: ({ status }) => httpStatus(status) },
  { name: 'state', title: 'State', kind: 'status' },
  { name: 'sites', title: 'Sites', kind: 'number' },
  { name: 'postbacks', title: 'Postbacks', kind: 'number' },
];

const postbackColumns: readonly Column<PostbackRow>[] = [
  { name: 'webhook_id', title: 'Postback', link: 'postbacks' },
  { name: 'state', title: 'State', kind: 'status' },
  { name: 'kind', title: 'Event' },
  { name: 'site_key', title: 'Site', link: 'sites' },
  { name: 'occurred_at', title: 'Occurred', kind: 'moment' },
  { name: 'reward', title: 'Reward, points', kind: 'number' },
  { name: 'attempts', title: 'Attempts', kind: 'number' },
  { name: 'last_status', title: 'HTTP', kind: 'number', show: ({ last_status }) => httpStatus(last_status) },
  { name: 'last_error', title: 'Last error' },
  { name: 'next_attempt_at', title: 'Next attempt', kind: 'moment', whyNone: 'no attempt is planned' },
  { name: 'offer_id', title: 'Offer', kind: 'number', link: 'offers' },
  { name: 'click_id', title: 'Click', link: 'clicks' },
];

/** Rows of a CSV file: the store reads them at once, and other readers wait meanwhile. */
const maxRowsInFile = 10_000;
/** The command's own default. */
const defaultLimit = 50;

export const postbacksPage: Page = {
  path: '/postbacks',
  navigation: 'Postbacks',
  live: true,
  async show(request) {
    const filter = filterOf(request.address);
    const part = { ...request.part, rows: Math.min(request.part.rows, maxRowsInFile) };
    const overview = await request.deliveries.read(filter, part);
    return {
      title: 'Postbacks',
      question: 'Which sites do not get their postbacks, and why? Live, from the delivery store.',
      parts: overview === undefined ? [noneYet] : partsOf(request, filter, overview),
    };
  },
};

const noneYet = html`<p class="empty">
  There has never been a postback. <code>offerline run refresh</code> writes the first one when a conversion of a site with
  a postback address in <code>sites.json</code> arrives.
</p>`;

function partsOf({ address, user, part, now }: PageRequest, filter: DeliveryFilter, overview: DeliveryOverview) {
  return [
    dataTable<SiteRow>({
      name: 'sites',
      caption: 'Sites by state (live)',
      columns: siteColumns,
      rows: siteRows(overview, now),
      command: 'offerline postbacks deliver --dry-run',
      empty: html`There is none yet. <code>offerline run refresh</code> writes those of new conversions.`,
    }),
    dataTable<FailedPostbacks>({
      name: 'errors',
      caption: 'Last errors of undelivered postbacks (live)',
      columns: errorColumns,
      rows: overview.errors,
      command: `offerline postbacks list --state dead --limit ${maxRowsInFile}`,
      empty: 'No undelivered postback has an error.',
    }),
    filterForm(address, [
      { name: 'site', title: 'Site' },
      { name: 'state', title: 'State', choices: deliveryStates },
      { name: 'since', title: 'Occurred since' },
      { name: 'until', title: 'and before, such as 2026-11-18T10:00:00Z' },
    ]),
    overview.dead > 0 && retry(user, filter, overview.dead),
    dataTable<PostbackRow>({
      name: 'postbacks',
      caption: 'Postbacks, newest events first (live)',
      columns: postbackColumns,
      rows: overview.found.map(rowOf),
      total: overview.count,
      first: part.first,
      command: `${commandOf(filter)}${overview.count > defaultLimit ? ` --limit ${maxRowsInFile}` : ''}`,
      maxRowsInFile,
      empty: html`No postback matches. <code>offerline run refresh</code> writes those of new conversions.`,
    }),
  ];
}

function siteRows({ states, paused }: DeliveryOverview, now: number): SiteRow[] {
  const pauses = new Map(
    paused.filter(({ pausedUntil }) => pausedUntil > now).map(({ siteKey, pausedUntil }) => [siteKey, pausedUntil]),
  );
  return [...Map.groupBy(states, ({ siteKey }) => siteKey)].map(([site_key, ofSite]) => {
    const pausedUntil = pauses.get(site_key);
    const count = (state: DeliveryStatus) => ofSite.find((each) => each.state === state)?.postbacks ?? 0;
    return {
      site_key,
      pending: count('pending'),
      delivering: count('delivering'),
      delivered: count('delivered'),
      dead: count('dead'),
      paused_until: pausedUntil === undefined ? null : momentOfMilliseconds(pausedUntil),
    };
  });
}

function retry(user: PageRequest['user'], { site, since, until }: DeliveryFilter, dead: number): Html {
  const isNarrow = site !== undefined || since !== undefined || until !== undefined;
  const which = isNarrow ? 'of this site and time' : 'of all sites';
  return html`<section>
    <h2>Dead postbacks</h2>
    <p>
      All attempts of ${numberText(dead)} postbacks ${which} failed. A retry starts a new plan of attempts, with the same
      webhook ids.
    </p>
    ${actionForm(user, {
      action: 'retry-postbacks',
      title: `Retry all ${numberText(dead)}`,
      values: { site, since, until, all: isNarrow ? undefined : 'yes' },
    })}
  </section>`;
}

function filterOf(address: Address): DeliveryFilter {
  const text = address.get('state');
  const state = deliveryStates.find((known) => known === text);
  if (text !== undefined && state === undefined)
    throw new ConsoleError(400, `state is "${text}"; it can be ${deliveryStates.join(', ')}`);
  return {
    site: address.get('site'),
    state,
    since: parameterOf(address, 'since', momentOption),
    until: parameterOf(address, 'until', momentOption),
  };
}

function commandOf({ site, state, since, until }: DeliveryFilter): string {
  const options = Object.entries({ site, state, since, until }).flatMap(([name, value]) =>
    value === undefined ? [] : [` --${name} '${value.replaceAll("'", String.raw`'\''`)}'`],
  );
  return `offerline postbacks list${options.join('')}`;
}

function rowOf(postback: DeliveryState): PostbackRow {
  return {
    webhook_id: postback.webhookId,
    kind: postback.kind,
    state: postback.state,
    site_key: postback.siteKey,
    click_id: postback.clickId,
    offer_id: postback.offerId,
    reward: postback.reward,
    occurred_at: postback.occurredAt,
    attempts: postback.attempts,
    last_attempt_at: postback.lastAttemptAt,
    last_status: postback.lastStatus,
    last_error: postback.lastError,
    next_attempt_at: postback.nextAttemptAt,
  };
}

/** A status of HTTP, without the thousands that a number has. */
export function httpStatus(status: number | null): Html {
  return textOrMissing(status, 'no HTTP status was received');
}
