import { momentOfMilliseconds } from '../../../kit/time/moment.ts';
import type { AttemptRecord } from '../../../postbacks/store/delivery-rows.ts';
import { timePoints, type TimePoint } from '../../charts/time-points.ts';
import { actionForm } from '../../html/action-form.ts';
import { statusBadge } from '../../html/badges.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column, type TablePart } from '../../html/table.ts';
import { facts, linkTo, moment, momentText, numberValue, textOrMissing } from '../../html/values.ts';
import type { DeliveryDetail } from '../../live/deliveries.ts';
import { ConsoleError, type Page, type PageRequest } from '../../page/page.ts';
import { httpStatus } from './postbacks.ts';

/** Columns are named as in the analysts' table `postback_attempts`. */
interface AttemptRow {
  attempt: number;
  started_at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  host: string | null;
}

const attemptColumns: readonly Column<AttemptRow>[] = [
  { name: 'attempt', title: 'Attempt', kind: 'number' },
  { name: 'started_at', title: 'Started', kind: 'moment' },
  { name: 'duration_ms', title: 'Duration, ms', kind: 'number' },
  { name: 'status', title: 'HTTP', kind: 'number', show: ({ status }) => httpStatus(status) },
  { name: 'error', title: 'Error', whyNone: 'it succeeded' },
  { name: 'host', title: 'Sent to', whyNone: 'it was not sent' },
];

export const postbackPage: Page = {
  path: '/postbacks/:id',
  live: true,
  async show(request) {
    const id = request.path['id'] ?? '';
    const found = (await request.deliveries.show(id)) ?? [];
    const [first] = found;
    if (first === undefined)
      throw new ConsoleError(
        404,
        'There is no postback with this webhook or conversion id; /postbacks lists all postbacks.',
      );
    const parts: (Html | TablePart | false)[] = [];
    for (const [index, delivery] of found.entries()) parts.push(...(await partsOf(delivery, index, request)));
    const { postback } = first;
    return {
      title: found.length === 1 ? `Postback ${postback.webhookId}` : `Postbacks of conversion ${postback.conversionId}`,
      question: 'What happened to this postback, and what does it wait for? Live, from the delivery store.',
      parts,
    };
  },
};

async function partsOf(
  delivery: DeliveryDetail,
  index: number,
  { user, now }: PageRequest,
): Promise<(Html | TablePart | false)[]> {
  const { postback, attempts } = delivery;
  const { webhookId, kind, state } = postback;
  return [
    html`<h2>${kind} of ${moment(postback.occurredAt)}</h2>
      ${factsOf(delivery, now)}`,
    state === 'dead' && actionForm(user, { action: 'retry-postbacks', title: 'Retry it', values: { ids: webhookId } }),
    await timePoints(`${summaryOf(attempts)} Written at ${momentText(postback.enqueuedAt)}.`, pointsOf(delivery)),
    dataTable<AttemptRow>({
      name: index === 0 ? 'attempts' : `attempts_${index + 1}`,
      caption: `Attempts to send the ${kind} (live)`,
      columns: attemptColumns,
      rows: attempts.map(rowOf),
      command: `offerline postbacks show ${webhookId}`,
      empty:
        postback.attempts === 0
          ? html`None yet. <code>offerline postbacks deliver</code> sends all that is due.`
          : 'retention.attempts has removed them.',
    }),
  ];
}

function factsOf(delivery: DeliveryDetail, now: number): Html {
  const { postback } = delivery;
  return facts([
    ['State', statusBadge(postback.state)],
    ['Waits for', waitsFor(delivery, now)],
    ['Webhook id', html`<code>${postback.webhookId}</code>`],
    ['Conversion', html`<code>${postback.conversionId}</code>`],
    ['Click', linkTo('clicks', postback.clickId)],
    ['Site', linkTo('sites', postback.siteKey)],
    ['Offer', linkTo('offers', postback.offerId)],
    ['Reward', html`${numberValue(postback.reward)} points`],
    ['Attempts', numberValue(postback.attempts)],
    ['Last error', textOrMissing(postback.lastError, 'none')],
    ['Delivered at', moment(postback.deliveredAt)],
    ['Next attempt', moment(postback.nextAttemptAt, 'no attempt is planned')],
  ]);
}

/** The first reason that keeps the postback from being sent. */
function waitsFor({ postback, nextOfClick, pausedUntil, site }: DeliveryDetail, now: number): Html {
  const { state, webhookId, siteKey, nextAttemptAt } = postback;
  if (state === 'delivered') return html`nothing: the site accepted it`;
  if (state === 'dead') return html`an operator: all attempts failed; a retry starts a new plan of attempts`;
  if (state === 'delivering') return html`the running attempt`;
  if (site === undefined) return html`its site: sites.json lacks ${siteKey}`;
  if (site.postback === undefined) return html`a postback address: sites.json has none for its site`;
  if (nextOfClick !== undefined && nextOfClick !== webhookId)
    return html`an earlier event of its click: ${linkTo('postbacks', nextOfClick)}`;
  if (pausedUntil !== undefined && pausedUntil > now)
    return html`its site, which did not answer and is paused until ${moment(momentOfMilliseconds(pausedUntil))}`;
  if (nextAttemptAt !== null && Date.parse(nextAttemptAt) > now)
    return html`the time of its next attempt, ${moment(nextAttemptAt)}`;
  return html`the next pass: a schedule makes one every few seconds, and <code>offerline postbacks deliver</code> makes
    one now`;
}

function pointsOf({ postback, attempts }: DeliveryDetail): TimePoint[] {
  const { enqueuedAt, nextAttemptAt } = postback;
  return [
    { at: Date.parse(enqueuedAt), name: 'written', kind: 'plain' },
    ...attempts.map(({ attempt, startedAt, error }): TimePoint => ({
      at: Date.parse(startedAt),
      name: String(attempt),
      kind: error === null ? 'good' : 'bad',
    })),
    ...(nextAttemptAt === null ? [] : [{ at: Date.parse(nextAttemptAt), name: 'next', kind: 'planned' as const }]),
  ];
}

function summaryOf(attempts: readonly AttemptRecord[]): string {
  const failed = attempts.filter(({ error }) => error !== null).length;
  const last = attempts.at(-1);
  if (last === undefined) return 'No attempt yet.';
  const count = `${attempts.length} ${attempts.length === 1 ? 'attempt' : 'attempts'}, ${failed} failed`;
  return `${count}; the last at ${momentText(last.startedAt)}.`;
}

function rowOf({ attempt, startedAt, durationMilliseconds, status, error, host }: AttemptRecord): AttemptRow {
  return {
    attempt,
    started_at: startedAt,
    duration_ms: durationMilliseconds,
    status,
    error,
    host: host === '' ? null : host,
  };
}
