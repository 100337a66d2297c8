import type { Preview } from '../../actions/preview.ts';
import { Address } from '../../html/address.ts';
import { hiddenFields } from '../../html/action-form.ts';
import { figure, figureText, moment, unknown } from '../../html/figures.ts';
import { html, nothing, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import { countsOf } from './jobs.ts';
import { facts, linkTo, stateOf, textOr } from '../../html/states.ts';

/** What a form sent: a name may come more than once. */
export type FormFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** As many rows of a preview as people read; the counts are of all. */
const shownRows = 200;

/** What each command's `--dry-run --json` says, by the action's name. */
interface Plans {
  'accept-export': {
    held: { fileId: number; source: string; path: string };
    removes: number;
    active: number;
    as_of: string | null;
    earnings: string;
    offers: {
      offer_id: number;
      external_id: string;
      status: string;
      title: string | null;
      clicks: number;
      conversions: number;
      earnings: string;
    }[];
  };
  'retry-postbacks': { revived: number; sites: { site_key: string; postbacks: number }[] };
  'test-postback': { site_key: string; site_status: string; method: string; host: string };
  refresh: {
    files: { path: string; kind: string; source: string | null; bytes: number; why: string }[];
    left_out: { path: string; why: string }[];
    reports_due: number;
    postbacks_due: { site_key: string; due: number; waits_for: string }[];
  };
  pull: {
    sources: {
      source: string;
      connector: string | null;
      host: string | null;
      pulls: string[];
      last_whole_pull_at: string | null;
      error: string | null;
    }[];
  };
  backfill: { days: { day: string; state: string; causes: string }[] };
}

const shown: { readonly [Name in keyof Plans]: (plan: Plans[Name]) => readonly Html[] } = {
  'accept-export': ({ held, removes, active, as_of, earnings, offers }) => [
    facts([
      ['Export', html`${linkTo('files', held.fileId, held.path)}`],
      ['Source', held.source],
      ['Removes', html`${figureText(removes)} of ${figureText(active)} active offers`],
      [
        'They earned',
        as_of === null
          ? unknown('nothing was published yet')
          : html`${figureText(earnings, 2)} USD in the window as of ${moment(as_of)}`,
      ],
    ]),
    rowsOf('Offers that would go, those that earned most first', offers, [
      { name: 'offer_id', title: 'Offer', kind: 'number', show: ({ offer_id }) => linkTo('offers', offer_id) },
      { name: 'title', title: 'Title', show: ({ title }) => textOr(title, 'it is newer than the snapshot') },
      { name: 'status', title: 'Status' },
      { name: 'clicks', title: 'Clicks', kind: 'number' },
      { name: 'conversions', title: 'Conversions', kind: 'number' },
      { name: 'earnings', title: 'Earnings, USD', kind: 'money' },
    ]),
  ],
  'retry-postbacks': ({ sites }) => [
    rowsOf('Dead postbacks that would be tried again', sites, [
      { name: 'site_key', title: 'Site', show: ({ site_key }) => linkTo('sites', site_key) },
      { name: 'postbacks', title: 'Postbacks', kind: 'number' },
    ]),
  ],
  'test-postback': ({ site_key, site_status, method, host }) => [
    facts([
      ['Site', html`${linkTo('sites', site_key)}, ${site_status}`],
      ['Sends', `one ${method} with a reward of 0, for a click that is made up`],
      ['To', html`<code>${host}</code>`],
    ]),
  ],
  refresh: ({ files, left_out, reports_due, postbacks_due }) => [
    facts([
      ['Daily reports due', figure(reports_due)],
      ['Postbacks due', figure(postbacks_due.reduce((sum, { due }) => sum + due, 0))],
    ]),
    rowsOf('Files that would be ingested', files, [
      { name: 'path', title: 'Path' },
      { name: 'kind', title: 'Kind' },
      { name: 'bytes', title: 'Bytes', kind: 'number' },
      { name: 'why', title: 'Why' },
    ]),
    ...(left_out.length === 0
      ? []
      : [
          rowsOf('New files of which nothing would be ingested', left_out, [
            { name: 'path', title: 'Path' },
            { name: 'why', title: 'Why' },
          ]),
        ]),
  ],
  pull: ({ sources }) => [
    rowsOf(
      'Networks that would be asked',
      sources.map((each) => ({ ...each, pulls: each.pulls.join(', ') })),
      [
        { name: 'source', title: 'Source' },
        { name: 'connector', title: 'Connector', show: ({ connector }) => textOr(connector, 'none') },
        { name: 'host', title: 'Host', show: ({ host }) => textOr(host, 'its own SDK knows it') },
        { name: 'pulls', title: 'For' },
        {
          name: 'last_whole_pull_at',
          title: 'Last whole pull',
          show: ({ last_whole_pull_at }) => moment(last_whole_pull_at, 'none was whole'),
        },
        { name: 'error', title: 'Would fail by', show: ({ error }) => textOr(error, 'nothing that is known before') },
      ],
    ),
  ],
  backfill: ({ days }) => [
    rowsOf('Reports that would be computed', days, [
      { name: 'day', title: 'Day' },
      { name: 'state', title: 'State', show: ({ state }) => stateOf(state) },
      {
        name: 'causes',
        title: 'Why',
        show: ({ causes }) => textOr(causes === '' ? null : causes, 'no cause is marked'),
      },
    ]),
  ],
};

/**
 * What an action would do, and the form that begins it.
 *
 * @param requestId Of this form: sent twice, it is one wish.
 */
export function previewBody(
  preview: Preview,
  fields: FormFields,
  { requestId, stale }: { requestId: string; stale?: string },
): Html {
  const { action, title, command, counts, digest, document } = preview;
  const parts = action in shown ? shown[action as keyof Plans](document as never) : [];
  return html`<h1>${title}: preview</h1>
    <p class="question">What would it change? Nothing has been changed yet.</p>
    ${stale !== undefined && html`<p class="error" role="alert">${stale}</p>`}
    <p><strong>${countsOf(counts)}</strong></p>
    ${parts}
    <p>On the command line: <code>${command}</code></p>
    ${
      changesNothing(preview)
        ? html`<p class="empty">Nothing would change, so there is nothing to begin.</p>`
        : html`<form class="action" method="post" action="/actions/${action}">
            ${hiddenFields(fields)}${hiddenFields({ digest, request_id: requestId })}
            <button class="main">${title}</button>
          </form>`
    }`;
}

/** A refresh without new files publishes what time has changed. */
function changesNothing({ action, counts }: Preview): boolean {
  return action !== 'refresh' && Object.values(counts).every((count) => count === 0);
}

function rowsOf<R extends object>(caption: string, rows: readonly R[], columns: readonly Column<R>[]): Html {
  const first = rows.slice(0, shownRows);
  const cut = first.length < rows.length ? `: the first ${first.length} of ${figureText(rows.length)}` : '';
  const part = table<R>({ name: 'changes', caption: `${caption}${cut}`, columns, rows: first, empty: 'None.' });
  return part.markup(new Address('/actions')) ?? nothing;
}
