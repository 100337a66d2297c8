import { ConsoleError } from '../../page/console-error.ts';
import { clickQuestions } from '../../data/click-files.ts';
import { moment, unknown } from '../../html/figures.ts';
import { html, type Html } from '../../html/html.ts';
import { sqlCommand } from '../../html/sql-command.ts';
import { table, type Column } from '../../html/table.ts';
import type { Page } from '../../page/page.ts';
import { stateOf } from '../../html/states.ts';
import {
  storyOf,
  verdicts,
  type ClickRow,
  type ConversionRow,
  type Happening,
  type PostbackRow,
} from './click-story.ts';

const clickColumns: readonly Column<ClickRow>[] = [
  { name: 'clicked_at', title: 'Made', show: ({ clicked_at }) => moment(clicked_at) },
  {
    name: 'site_key',
    title: 'Site',
    show: ({ site_key }) => html`<a href="/sites/${encodeURIComponent(site_key)}">${site_key}</a>`,
  },
  { name: 'user_id', title: 'User' },
  { name: 'offer_id', title: 'Offer', kind: 'number', show: offerLink },
  {
    name: 'title',
    title: 'Title',
    show: ({ title }) => (title === null ? unknown('not in the catalog') : html`${title}`),
  },
  { name: 'country', title: 'Country' },
  { name: 'device', title: 'Device' },
  {
    name: 'path',
    title: 'File',
    show: ({ path, file_id }) => html`<a href="/files/${file_id}">${path ?? `file ${file_id}`}</a>`,
  },
];

const conversionColumns: readonly Column<ConversionRow>[] = [
  { name: 'conversion_id', title: 'Conversion' },
  {
    name: 'status',
    title: 'Status',
    show: ({ status }) => stateOf(status),
  },
  { name: 'event_id', title: 'Milestone' },
  { name: 'payout', title: 'Payout, USD', kind: 'money' },
  { name: 'occurred_at', title: 'Happened', show: ({ occurred_at }) => moment(occurred_at) },
  { name: 'credited_at', title: 'Credited', show: ({ credited_at }) => moment(credited_at, 'never') },
  { name: 'reversed_at', title: 'Taken back', show: ({ reversed_at }) => moment(reversed_at, 'never') },
];

const postbackColumns: readonly Column<PostbackRow>[] = [
  {
    name: 'webhook_id',
    title: 'Postback',
    show: ({ webhook_id }) => html`<a href="/postbacks/${encodeURIComponent(webhook_id)}">${webhook_id}</a>`,
  },
  { name: 'kind', title: 'Tells of' },
  { name: 'reward', title: 'Reward, points', kind: 'number' },
  {
    name: 'state',
    title: 'State',
    show: ({ state }) => stateOf(state),
  },
  { name: 'attempts', title: 'Attempts', kind: 'number' },
  { name: 'last_status', title: 'HTTP status', kind: 'number' },
  { name: 'last_error', title: 'Error' },
  { name: 'next_attempt_at', title: 'Next attempt', show: ({ next_attempt_at }) => moment(next_attempt_at, 'none') },
];

/** Why did it not count? */
export const clickPage: Page = {
  path: '/clicks/:id',
  async show({ snapshot, path, data }) {
    const id = path['id'] ?? '';
    const ask = await clickQuestions(id, snapshot, data);
    const clicks = await ask('click', 'clicks');
    const conversions = await ask('click_conversions', 'conversions');
    const [click] = clicks.rows;
    if (click === undefined && conversions.rows.length === 0)
      throw new ConsoleError(
        404,
        `No log that was read has a click "${id}", and no conversion names it. If it should be there, /files tells which logs came.`,
      );
    const postbacks = await ask('click_postbacks', 'postbacks');
    return {
      title: `Click ${id}`,
      question: 'Did it count, and if not, why?',
      parts: [
        html`<section id="verdict">
          <h2>What it counts for</h2>
          <ul>
            ${verdicts(click, conversions.rows, snapshot.asOf).map((sentence) => html`<li>${sentence}</li> `)}
          </ul>
        </section>`,
        timeLine(storyOf(click, conversions.rows, postbacks.rows)),
        table<ClickRow>({
          name: 'click',
          caption: 'The click',
          columns: clickColumns,
          ...clicks,
          command: sqlCommand('clicks', 'click_id', id),
          empty: 'No log that was read has it.',
        }),
        table<ConversionRow>({
          name: 'conversions',
          caption: 'Conversions that name it',
          columns: conversionColumns,
          ...conversions,
          command: sqlCommand('conversions', 'click_id', id),
          empty: 'None up to the as-of of this snapshot.',
        }),
        table<PostbackRow>({
          name: 'postbacks',
          caption: 'What its site is told',
          columns: postbackColumns,
          ...postbacks,
          command: sqlCommand('postbacks', 'click_id', id),
          empty:
            'Nothing: its site is told of credited, rejected and charged back conversions, if it has an address for that.',
        }),
      ],
    };
  },
};

function offerLink({ offer_id, source, external_id }: ClickRow): Html {
  if (offer_id === null) return unknown(`no catalog has had ${external_id ?? 'it'} of ${source ?? 'its source'}`);
  return html`<a href="/offers/${offer_id}">${offer_id}</a>`;
}

function timeLine(story: readonly Happening[]): Html {
  return html`<section id="time-line">
    <h2>What happened</h2>
    <ol class="time-line">
      ${story.map(({ at, what }) => html`<li>${moment(at)} <span>${what}</span></li> `)}
    </ol>
  </section>`;
}
