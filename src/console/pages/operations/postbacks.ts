import type { DeliveryFilter, DeliveryState, FailedPostbacks } from '../../../postbacks/store/delivery-store.ts';
import { momentOfMilliseconds, momentOption } from '../../../kit/time/moment.ts';
import { deliveryStates, type DeliveryStatus } from '../../../kit/vocabulary/values.ts';
import { ConsoleError } from '../../page/console-error.ts';
import { actionForm } from '../../html/action-form.ts';
import type { Address } from '../../html/address.ts';
import { figureText, moment, unknown } from '../../html/figures.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html, nothing, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import type { Deliveries } from '../../live/deliveries.ts';
import type { Page, Visit } from '../../page/page.ts';
import { linkTo, stateOf, textOr } from '../../html/states.ts';

type SiteRow = { site_key: string; rests_until: string | null } & Record<DeliveryStatus, number>;

/** With the names of the analysts' tables, where there is one. */
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
  { name: 'site_key', title: 'Site', show: ({ site_key }) => linkTo('sites', site_key) },
  ...deliveryStates.map((state) => ({ name: state, title: state, kind: 'number' as const })),
  {
    name: 'rests_until',
    title: 'Rests until',
    show: ({ rests_until }) => moment(rests_until, 'its receiver is not known to be away'),
  },
];

const errorColumns: readonly Column<FailedPostbacks>[] = [
  { name: 'error', title: 'Last error' },
  { name: 'status', title: 'HTTP', kind: 'number', show: ({ status }) => statusOf(status) },
  { name: 'state', title: 'State', show: ({ state }) => stateOf(state) },
  { name: 'sites', title: 'Sites', kind: 'number' },
  { name: 'postbacks', title: 'Postbacks', kind: 'number' },
];

const postbackColumns: readonly Column<PostbackRow>[] = [
  { name: 'webhook_id', title: 'Postback', show: ({ webhook_id }) => linkTo('postbacks', webhook_id) },
  { name: 'state', title: 'State', show: ({ state }) => stateOf(state) },
  { name: 'kind', title: 'Event' },
  { name: 'site_key', title: 'Site', show: ({ site_key }) => linkTo('sites', site_key) },
  { name: 'occurred_at', title: 'Occurred', show: ({ occurred_at }) => moment(occurred_at) },
  { name: 'reward', title: 'Reward, points', kind: 'number' },
  { name: 'attempts', title: 'Attempts', kind: 'number' },
  { name: 'last_status', title: 'HTTP', kind: 'number', show: ({ last_status }) => statusOf(last_status) },
  { name: 'last_error', title: 'Last error', show: ({ last_error }) => textOr(last_error, 'none') },
  {
    name: 'next_attempt_at',
    title: 'Next attempt',
    show: ({ next_attempt_at }) => moment(next_attempt_at, 'nothing more is tried'),
  },
  { name: 'offer_id', title: 'Offer', kind: 'number', show: ({ offer_id }) => linkTo('offers', offer_id) },
  { name: 'click_id', title: 'Click', show: ({ click_id }) => linkTo('clicks', click_id) },
];

/** So many a CSV file has at most: they are read in one go, and others wait meanwhile. */
const mostInFile = 10_000;
/** So many the command shows where it is not told. */
const usualLimit = 50;

/** Who is not told, and why? */
export const postbacksPage: Page = {
  path: '/postbacks',
  navigation: 'Postbacks',
  live: true,
  async show(visit) {
    const filter = filterOf(visit.address);
    const found = await visit.deliveries.read(filter, { ...visit.part, rows: Math.min(visit.part.rows, mostInFile) });
    return {
      title: 'Postbacks',
      question: 'Who is not told, and why? Live, as the store of deliveries has it at this moment.',
      parts: found === undefined ? [nobodyYet] : partsOf(visit, filter, found),
    };
  },
};

const nobodyYet = html`<p class="empty">
  There has never been a postback: the first is written when a conversion of a site with a postback address in
  <code>sites.json</code> arrives, by <code>offerline run refresh</code>.
</p>`;

function partsOf({ address, user, part, now }: Visit, filter: DeliveryFilter, found: Deliveries) {
  const resting = new Map(
    found.resting.filter(({ pausedUntil }) => pausedUntil > now).map((each) => [each.siteKey, each]),
  );
  const bySite = [...Map.groupBy(found.states, ({ siteKey }) => siteKey)].map(([site_key, states]): SiteRow => {
    const pausedUntil = resting.get(site_key)?.pausedUntil;
    const counted = new Map(states.map(({ state, postbacks }) => [state, postbacks]));
    return {
      site_key,
      ...(Object.fromEntries(deliveryStates.map((state) => [state, counted.get(state) ?? 0])) as Record<
        DeliveryStatus,
        number
      >),
      rests_until: pausedUntil === undefined ? null : momentOfMilliseconds(pausedUntil),
    };
  });
  return [
    table<SiteRow>({
      name: 'sites',
      caption: 'Sites by state (live)',
      columns: siteColumns,
      rows: bySite,
      command: 'offerline postbacks deliver --dry-run',
      empty: html`There is none yet: <code>offerline run refresh</code> writes those of new conversions.`,
    }),
    table<FailedPostbacks>({
      name: 'errors',
      caption: 'Why the last attempts failed of what is not delivered (live)',
      columns: errorColumns,
      rows: found.errors,
      command: `offerline postbacks list --state dead --limit ${mostInFile}`,
      empty: 'No attempt failed of what is not delivered.',
    }),
    filterForm(address, [
      { name: 'site', title: 'Site' },
      { name: 'state', title: 'State', choices: deliveryStates },
      { name: 'since', title: 'Occurred since' },
      { name: 'until', title: 'and before, such as 2026-11-18T10:00:00Z' },
    ]),
    retry(user, filter, found.dead),
    table<PostbackRow>({
      name: 'postbacks',
      caption: 'Postbacks, the newest events first (live)',
      columns: postbackColumns,
      rows: found.found.map(rowOf),
      total: found.count,
      first: part.first,
      command: `${commandOf(filter)}${found.count > usualLimit ? ` --limit ${mostInFile}` : ''}`,
      mostInFile,
      empty: html`No postback is like that. Those of new conversions come with <code>offerline run refresh</code>.`,
    }),
  ];
}

function retry(user: Visit['user'], { site, since, until }: DeliveryFilter, dead: number): Html {
  if (dead === 0) return nothing;
  const isNarrow = site !== undefined || since !== undefined || until !== undefined;
  const which = isNarrow ? 'of this site and time' : 'of all sites';
  return html`<section>
    <h2>Dead ones</h2>
    <p>${figureText(dead)} ${which} were given up. Retrying gives them a new plan of attempts, under the same ids.</p>
    ${actionForm(user, {
      action: 'retry-postbacks',
      title: `Retry all ${figureText(dead)}`,
      values: { site, since, until, all: isNarrow ? undefined : 'yes' },
    })}
  </section>`;
}

function filterOf(address: Address): DeliveryFilter {
  const state = deliveryStates.find((known) => known === address.get('state'));
  if (address.get('state') !== undefined && state === undefined)
    throw new ConsoleError(400, `state is "${address.get('state')}"; it can be ${deliveryStates.join(', ')}`);
  return { site: address.get('site'), state, since: timeOf(address, 'since'), until: timeOf(address, 'until') };
}

function timeOf(address: Address, name: string): string | undefined {
  const text = address.get(name);
  if (text === undefined) return undefined;
  try {
    return momentOption(text, name);
  } catch (error) {
    throw new ConsoleError(400, (error as Error).message);
  }
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

function statusOf(status: number | null): Html {
  return status === null ? unknown('no status line came') : html`${status}`;
}
