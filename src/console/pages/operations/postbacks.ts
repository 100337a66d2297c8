import { looseMoment, momentOfMilliseconds, momentOption } from '../../../kit/time/moment.ts';
import { deliveryStates, type DeliveryStatus } from '../../../kit/vocabulary/values.ts';
import type { DeliveryState } from '../../../postbacks/store/delivery-rows.ts';
import type { DeliveryFilter, FailedPostbacks } from '../../../postbacks/store/query-store.ts';
import { actionForm } from '../../html/action-form.ts';
import type { Address } from '../../html/address.ts';
import { countValue, figureCards } from '../../html/figure-card.ts';
import { filterForm, presets, type Preset } from '../../html/filter-form.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { shownNumber, textOrMissing } from '../../html/values.ts';
import type { DeliveryOverview } from '../../live/deliveries.ts';
import { ConsoleError, parameterOf, type Page, type PageRequest } from '../../page/page.ts';
import { postbackSiteColumns, postbackSites, type PostbackSiteRow } from './postback-sites.ts';

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

const errorColumns: readonly Column<FailedPostbacks>[] = [
  { name: 'error', title: 'Last error' },
  { name: 'status', title: 'HTTP', kind: 'number', show: ({ status }) => httpStatus(status) },
  { name: 'state', title: 'State', kind: 'status' },
  { name: 'sites', title: 'Sites', kind: 'number' },
  { name: 'postbacks', title: 'Postbacks', kind: 'number' },
];

const postbackColumns: readonly Column<PostbackRow>[] = [
  { name: 'webhook_id', title: 'Postback', kind: 'id', link: 'postbacks' },
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
  { name: 'click_id', title: 'Click', kind: 'id', link: 'clicks' },
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

function partsOf(
  { address, user, part, now, health }: PageRequest,
  filter: DeliveryFilter,
  overview: DeliveryOverview,
) {
  const sites = postbackSites(overview, health.status?.silent_sites ?? [], now);
  return [
    cards(sites),
    dataTable<PostbackSiteRow>({
      name: 'sites',
      caption: 'Sites, failing receivers first (live)',
      columns: postbackSiteColumns,
      rows: sites,
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
    presets(address, 'Occurred', [...sinceChoices(now), { title: 'any time', sets: anyTime }]),
    filterForm(address, [
      { name: 'site', title: 'Site', choices: sites.map(({ site_key }) => site_key).toSorted() },
      { name: 'state', title: 'State', choices: deliveryStates },
      { name: 'since', title: 'Occurred since, UTC', kind: 'moment' },
      { name: 'until', title: 'and before, UTC', kind: 'moment' },
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

function cards(sites: readonly PostbackSiteRow[]): Html {
  const sum = (state: DeliveryStatus) => sites.reduce((all, row) => all + row[state], 0);
  const failing = sites.filter(({ receiver }) => receiver === 'fails').length;
  return figureCards('All postbacks', [
    { title: 'Failing receivers', value: failing, show: countValue },
    { title: 'Dead', value: sum('dead'), show: countValue },
    { title: 'Waiting', value: sum('pending') + sum('delivering'), show: countValue },
    { title: 'Delivered', value: sum('delivered'), show: countValue },
  ]);
}

const anyTime = { since: undefined, until: undefined };

/** Whole hours, so that an address stays the same for a while. */
function sinceChoices(now: number): Preset[] {
  const hour = 3_600_000;
  const since = (hours: number) => ({
    ...anyTime,
    since: momentOfMilliseconds((Math.floor(now / hour) - hours) * hour),
  });
  return [
    { title: 'last hour', sets: since(1) },
    { title: '24 hours', sets: since(24) },
    { title: '7 days', sets: since(168) },
  ];
}

function retry(user: PageRequest['user'], { site, since, until }: DeliveryFilter, dead: number): Html {
  const isNarrow = site !== undefined || since !== undefined || until !== undefined;
  const which = isNarrow ? 'of this site and time' : 'of all sites';
  return html`<section>
    <h2>Dead postbacks</h2>
    <p>
      All attempts of ${shownNumber(dead)} postbacks ${which} failed. A retry starts a new plan of attempts, with the same
      webhook ids.
    </p>
    ${actionForm(user, {
      action: 'retry-postbacks',
      title: `Retry all ${shownNumber(dead)}`,
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
    since: parameterOf(address, 'since', momentOf),
    until: parameterOf(address, 'until', momentOf),
  };
}

/** Also without seconds or zone, as a browser's form has it: then it is UTC. */
function momentOf(text: string, name: string): string {
  return looseMoment(text) ?? momentOption(text, name);
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
