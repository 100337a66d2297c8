import type { AttemptRecord } from '../../../postbacks/store/delivery-store.ts';
import { momentOfMilliseconds } from '../../../kit/time/moment.ts';
import { timePoints, type TimePoint } from '../../charts/time-points.ts';
import { ConsoleError } from '../../page/console-error.ts';
import { actionForm } from '../../html/action-form.ts';
import { figure, moment, unknown } from '../../html/figures.ts';
import { html, nothing, type Html } from '../../html/html.ts';
import { table, type Column, type TablePart } from '../../html/table.ts';
import type { Delivery } from '../../live/deliveries.ts';
import type { Page, Visit } from '../../page/page.ts';
import { facts, linkTo, stateOf, textOr } from '../../html/states.ts';

/** With the names of the analysts' table. */
interface AttemptRow {
  attempt: number;
  started_at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  host: string;
}

const attemptColumns: readonly Column<AttemptRow>[] = [
  { name: 'attempt', title: 'Attempt', kind: 'number' },
  { name: 'started_at', title: 'Began', show: ({ started_at }) => moment(started_at) },
  { name: 'duration_ms', title: 'Took, ms', kind: 'number' },
  {
    name: 'status',
    title: 'HTTP',
    kind: 'number',
    show: ({ status }) => (status === null ? unknown('no status line came') : html`${status}`),
  },
  { name: 'error', title: 'Error', show: ({ error }) => textOr(error, 'it succeeded') },
  { name: 'host', title: 'Sent to', show: ({ host }) => textOr(host === '' ? null : host, 'it was not sent') },
];

/** What became of one postback, and what does it wait for? */
export const postbackPage: Page = {
  path: '/postbacks/:id',
  live: true,
  async show(visit) {
    const id = visit.path['id'] ?? '';
    const found = (await visit.deliveries.show(id)) ?? [];
    const [first] = found;
    if (first === undefined)
      throw new ConsoleError(
        404,
        'There is no postback with this webhook or conversion id; /postbacks has those there are.',
      );
    const parts: (Html | TablePart)[] = [];
    for (const [index, delivery] of found.entries()) parts.push(...(await partsOf(delivery, index, visit)));
    const { postback } = first;
    return {
      title: found.length === 1 ? `Postback ${postback.webhookId}` : `Postbacks of conversion ${postback.conversionId}`,
      question: 'What became of it, and what does it wait for? Live, as the store of deliveries has it at this moment.',
      parts,
    };
  },
};

async function partsOf(delivery: Delivery, index: number, { user, now }: Visit): Promise<(Html | TablePart)[]> {
  const { postback, attempts } = delivery;
  const { webhookId, kind, state } = postback;
  return [
    html`<h2>${kind} of ${moment(postback.occurredAt)}</h2>
      ${about(delivery, now)}`,
    state === 'dead'
      ? actionForm(user, { action: 'retry-postbacks', title: 'Retry it', values: { ids: webhookId } })
      : nothing,
    await timePoints(`${sentenceOf(attempts)} Written at ${shortTime(postback.enqueuedAt)}.`, pointsOf(delivery)),
    table<AttemptRow>({
      name: index === 0 ? 'attempts' : `attempts_${index + 1}`,
      caption: `Attempts at the ${kind} (live)`,
      columns: attemptColumns,
      rows: attempts.map(rowOf),
      command: `offerline postbacks show ${webhookId}`,
      empty:
        postback.attempts === 0
          ? html`There was none yet; <code>offerline postbacks deliver</code> sends all that is due.`
          : 'retention.attempts let them go.',
    }),
  ];
}

function about({ postback, attempts, ...delivery }: Delivery, now: number): Html {
  const { webhookId, conversionId, clickId, siteKey, offerId, state, reward, lastError } = postback;
  return facts([
    ['State', stateOf(state)],
    ['Waits for', waitsFor({ postback, attempts, ...delivery }, now)],
    ['Webhook id', html`<code>${webhookId}</code>`],
    ['Conversion', html`<code>${conversionId}</code>`],
    ['Click', linkTo('clicks', clickId)],
    ['Site', linkTo('sites', siteKey)],
    ['Offer', linkTo('offers', offerId)],
    ['Reward', html`${figure(reward)} points`],
    ['Attempts', figure(postback.attempts)],
    ['Last error', textOr(lastError, 'none')],
    ['Delivered at', moment(postback.deliveredAt)],
    ['Next attempt', moment(postback.nextAttemptAt, 'nothing more is tried')],
  ]);
}

/** The first thing that is in its way. */
function waitsFor({ postback, nextOfClick, pausedUntil, site }: Delivery, now: number): Html {
  const { state, webhookId, siteKey, nextAttemptAt } = postback;
  if (state === 'delivered') return html`nothing: the site took it`;
  if (state === 'dead') return html`an operator: it was given up, and a retry gives it a new plan of attempts`;
  if (state === 'delivering') return html`its attempt that is under way`;
  if (site === undefined) return html`its site in sites.json, where ${siteKey} is missing`;
  if (site.postback === undefined) return html`a postback address of its site in sites.json`;
  if (nextOfClick !== undefined && nextOfClick !== webhookId)
    return html`an earlier event of its click: ${linkTo('postbacks', nextOfClick)}`;
  if (pausedUntil !== undefined && pausedUntil > now)
    return html`its site, which did not answer and rests until ${moment(momentOfMilliseconds(pausedUntil))}`;
  if (nextAttemptAt !== null && Date.parse(nextAttemptAt) > now)
    return html`the time of its next attempt, ${moment(nextAttemptAt)}`;
  return html`the next pass: a schedule makes one every few seconds, and <code>offerline postbacks deliver</code> makes
    one now`;
}

function pointsOf({ postback, attempts }: Delivery): TimePoint[] {
  const { enqueuedAt, nextAttemptAt } = postback;
  return [
    { at: Date.parse(enqueuedAt), name: 'written', kind: 'plain' },
    ...attempts.map(({ attempt, startedAt, error }): TimePoint => ({
      at: Date.parse(startedAt),
      name: String(attempt),
      kind: error === null ? 'good' : 'bad',
    })),
    ...(nextAttemptAt === null ? [] : [{ at: Date.parse(nextAttemptAt), name: 'next', kind: 'to come' as const }]),
  ];
}

function sentenceOf(attempts: readonly AttemptRecord[]): string {
  const failed = attempts.filter(({ error }) => error !== null).length;
  const last = attempts.at(-1);
  if (last === undefined) return 'No attempt yet.';
  const count = `${attempts.length} ${attempts.length === 1 ? 'attempt' : 'attempts'}, ${failed} failed`;
  return `${count}; the last at ${shortTime(last.startedAt)}.`;
}

function rowOf({ attempt, startedAt, durationMilliseconds, status, error, host }: AttemptRecord): AttemptRow {
  return { attempt, started_at: startedAt, duration_ms: durationMilliseconds, status, error, host };
}

function shortTime(exact: string): string {
  return `${exact.slice(0, 10)} ${exact.slice(11, 19)}`;
}
