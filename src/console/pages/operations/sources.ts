import { UsageError } from '../../../kit/errors/errors.ts';
import { actionForm } from '../../html/action-form.ts';
import { moment, unknown } from '../../html/figures.ts';
import { html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import { readPulls, type SourcePulls } from '../../live/pulls.ts';
import type { Page, Visit } from '../../page/page.ts';
import { stateOf, textOr } from '../../html/states.ts';

const notPulled = 'it is not pulled';
const isPulled = ({ connector }: SourcePulls) => connector !== null;
const neverPulled = (row: SourcePulls) => (isPulled(row) ? 'it was never pulled' : notPulled);
const byHand = (row: SourcePulls) => (isPulled(row) ? 'by hand only' : notPulled);

const columns: readonly Column<SourcePulls>[] = [
  {
    name: 'source',
    title: 'Source',
    show: ({ source }) => html`<a href="/files?path=offers%2F${encodeURIComponent(source)}">${source}</a>`,
  },
  { name: 'connector', title: 'Connector', show: ({ connector }) => textOr(connector, 'it only reports conversions') },
  {
    name: 'last_pull',
    title: 'Last pull',
    show: (row) => (row.last_pull === null ? unknown(neverPulled(row)) : stateOf(row.last_pull)),
  },
  { name: 'last_pull_at', title: 'Begun', show: (row) => moment(row.last_pull_at, neverPulled(row)) },
  {
    name: 'last_whole_pull_at',
    title: 'Last whole pull',
    show: (row) => moment(row.last_whole_pull_at, isPulled(row) ? 'none was whole' : notPulled),
  },
  { name: 'records', title: 'Records', kind: 'number' },
  { name: 'conversion_lines', title: 'Conversion lines', kind: 'number' },
  { name: 'file', title: 'File', show: ({ file }) => textOr(file, 'it brought nothing new') },
  { name: 'times', title: 'When, cron, UTC', show: (row) => textOr(row.times, byHand(row)) },
  { name: 'next_pull_at', title: 'Next', show: (row) => moment(row.next_pull_at, byHand(row)) },
  { name: 'error', title: 'Error', show: ({ error }) => textOr(error, 'none') },
];

/** Which networks are pulled, and how does that stand? */
export const sourcesPage: Page = {
  path: '/sources',
  navigation: 'Sources',
  live: true,
  async show(visit) {
    const { sources, mistake } = pullsOf(visit);
    return {
      title: 'Sources',
      question:
        'Which networks are pulled, when were they last pulled whole, and when are they next? Live, from the ledger of pulls; the next pull is made where a schedule runs.',
      parts: [
        mistake === undefined ? html`` : html`<p class="error" role="alert">${mistake}</p>`,
        sources.every((row) => !isPulled(row))
          ? html``
          : actionForm(visit.user, {
              action: 'pull',
              title: 'Pull now',
              fields: [{ name: 'sources', title: 'Sources, with blanks between; all where empty' }],
            }),
        table<SourcePulls>({
          name: 'sources',
          caption: 'Sources of sources.json (live)',
          columns,
          rows: sources,
          command: 'offerline sources list',
          empty: html`No network is pulled: none stands in <code>sources.json</code>. Catalogs can also be put into
            <code>landing/offers</code>; <code>offerline sources check</code> tries new entries.`,
        }),
      ],
    };
  },
};

/** Its messages name the file and the key, never a value. */
function pullsOf({ data, settings, now }: Visit): { sources: SourcePulls[]; mistake?: string } {
  try {
    return { sources: readPulls(data, settings, now) };
  } catch (error) {
    if (error instanceof UsageError) return { sources: [], mistake: error.message };
    throw error;
  }
}
