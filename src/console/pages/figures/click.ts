import { clickQueries } from '../../data/click-queries.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { sqlCommand } from '../../html/sql-command.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { linkTo, missing, moment } from '../../html/values.ts';
import { ConsoleError, type Page } from '../../page/page.ts';
import {
  eventsOf,
  verdicts,
  type ClickEvent,
  type ClickRow,
  type ConversionOfClick,
  type PostbackOfClick,
} from './click-story.ts';

const clickColumns: readonly Column<ClickRow>[] = [
  { name: 'clicked_at', title: 'Made', kind: 'moment' },
  { name: 'site_key', title: 'Site', link: 'sites' },
  { name: 'user_id', title: 'User' },
  { name: 'offer_id', title: 'Offer', kind: 'number', show: offerLink },
  { name: 'title', title: 'Title', whyNone: 'not in the catalog' },
  { name: 'country', title: 'Country' },
  { name: 'device', title: 'Device' },
  { name: 'path', title: 'File', show: ({ path, file_id }) => linkTo('files', file_id, path ?? `file ${file_id}`) },
];

const conversionColumns: readonly Column<ConversionOfClick>[] = [
  { name: 'conversion_id', title: 'Conversion' },
  { name: 'status', title: 'Status', kind: 'status' },
  { name: 'event_id', title: 'Milestone' },
  { name: 'payout', title: 'Payout, USD', kind: 'money' },
  { name: 'occurred_at', title: 'Occurred', kind: 'moment' },
  { name: 'credited_at', title: 'Credited', kind: 'moment', whyNone: 'never' },
  { name: 'reversed_at', title: 'Reversed', kind: 'moment', whyNone: 'never' },
  { name: 'reason', title: 'Reason', whyNone: 'none given' },
];

const postbackColumns: readonly Column<PostbackOfClick>[] = [
  { name: 'webhook_id', title: 'Postback', link: 'postbacks' },
  { name: 'kind', title: 'Event' },
  { name: 'reward', title: 'Reward, points', kind: 'number' },
  { name: 'state', title: 'State', kind: 'status' },
  { name: 'attempts', title: 'Attempts', kind: 'number' },
  { name: 'last_status', title: 'HTTP status', kind: 'number' },
  { name: 'last_error', title: 'Error' },
  { name: 'next_attempt_at', title: 'Next attempt', kind: 'moment', whyNone: 'none' },
];

export const clickPage: Page = {
  path: '/clicks/:id',
  async show({ snapshot, path, data }) {
    const id = path['id'] ?? '';
    const ask = await clickQueries(id, snapshot, data);
    const clicks = await ask('click', 'clicks');
    const conversions = await ask('click_conversions', 'conversions');
    const [click] = clicks.rows;
    if (click === undefined && conversions.rows.length === 0)
      throw new ConsoleError(
        404,
        `No log has a click "${id}", and no conversion names it. If you expect it, see in /files which logs were read.`,
      );
    const postbacks = await ask('click_postbacks', 'postbacks');
    return {
      title: `Click ${id}`,
      question: 'Did this click count, and if not, why?',
      parts: [
        html`<section id="verdict">
          <h2>What it counts in</h2>
          <ul>
            ${verdicts(click, conversions.rows, snapshot.asOf).map((sentence) => html`<li>${sentence}</li> `)}
          </ul>
        </section>`,
        timeLine(eventsOf(click, conversions.rows, postbacks.rows)),
        dataTable<ClickRow>({
          name: 'click',
          caption: 'Click',
          columns: clickColumns,
          ...clicks,
          command: sqlCommand('clicks', 'click_id', id),
          empty: 'No log that was read has this click.',
        }),
        dataTable<ConversionOfClick>({
          name: 'conversions',
          caption: 'Conversions of this click',
          columns: conversionColumns,
          ...conversions,
          command: sqlCommand('conversions', 'click_id', id),
          empty: 'None up to the as-of of this snapshot.',
        }),
        dataTable<PostbackOfClick>({
          name: 'postbacks',
          caption: 'Postbacks to its site',
          columns: postbackColumns,
          ...postbacks,
          command: sqlCommand('postbacks', 'click_id', id),
          empty:
            'None. A site with a postback address gets one for each credited, rejected and charged back conversion.',
        }),
      ],
    };
  },
};

function offerLink({ offer_id, source, external_id }: ClickRow): Html {
  if (offer_id !== null) return linkTo('offers', offer_id);
  return missing(`no catalog has had ${external_id ?? 'it'} of ${source ?? 'its source'}`);
}

function timeLine(events: readonly ClickEvent[]): Html {
  return html`<section id="time-line">
    <h2>What happened</h2>
    <ol class="time-line">
      ${events.map(({ at, what }) => html`<li>${moment(at)} <span>${what}</span></li> `)}
    </ol>
  </section>`;
}
