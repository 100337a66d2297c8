import { OfferlineError } from '../../../kit/errors/errors.ts';
import { actionForm } from '../../html/action-form.ts';
import { statusBadge } from '../../html/badges.ts';
import { html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { missing, moment, textOrMissing } from '../../html/values.ts';
import { readPulls, type SourcePulls } from '../../live/pulls.ts';
import type { Page, PageRequest } from '../../page/page.ts';

const notPulled = 'it is not pulled';
const isPulled = ({ connector }: SourcePulls) => connector !== null;
const neverPulled = (row: SourcePulls) => (isPulled(row) ? 'it was never pulled' : notPulled);
const neverWhole = (row: SourcePulls) => (isPulled(row) ? 'none was whole' : notPulled);
const byHand = (row: SourcePulls) => (isPulled(row) ? 'by hand only' : notPulled);

function whyNoFile(row: SourcePulls): string {
  if (row.last_whole_pull_at === null) return neverWhole(row);
  return (row.conversion_lines ?? 0) > 0 ? 'it brought conversions alone' : 'it brought nothing new';
}

const columns: readonly Column<SourcePulls>[] = [
  {
    name: 'source',
    title: 'Source',
    show: ({ source }) => html`<a href="/files?path=offers%2F${encodeURIComponent(source)}%2F">${source}</a>`,
  },
  { name: 'connector', title: 'Connector', whyNone: 'it only reports conversions' },
  {
    name: 'last_pull',
    title: 'Last pull',
    show: (row) => (row.last_pull === null ? missing(neverPulled(row)) : statusBadge(row.last_pull)),
  },
  { name: 'last_pull_at', title: 'Started', show: (row) => moment(row.last_pull_at, neverPulled(row)) },
  {
    name: 'last_whole_pull_at',
    title: 'Last whole pull',
    show: (row) => moment(row.last_whole_pull_at, neverWhole(row)),
  },
  { name: 'records', title: 'Records', kind: 'number' },
  { name: 'conversion_lines', title: 'Conversion lines', kind: 'number' },
  { name: 'file', title: 'File', show: (row) => textOrMissing(row.file, whyNoFile(row)) },
  { name: 'times', title: 'When, cron, UTC', show: (row) => textOrMissing(row.times, byHand(row)) },
  { name: 'next_pull_at', title: 'Next', show: (row) => moment(row.next_pull_at, byHand(row)) },
  { name: 'error', title: 'Error' },
];

export const sourcesPage: Page = {
  path: '/sources',
  navigation: 'Sources',
  live: true,
  async show(request) {
    const { sources, error } = pullsOf(request);
    return {
      title: 'Sources',
      question:
        'Which networks are pulled, when was the last whole pull, and when is the next? Live, from the pull ledger; only a running schedule makes the next pull.',
      parts: [
        error !== undefined && html`<p class="error" role="alert">${error}</p>`,
        sources.some(isPulled) &&
          actionForm(request.user, {
            action: 'pull',
            title: 'Pull now',
            fields: [{ name: 'sources', title: 'Sources, separated by blanks; empty for all' }],
          }),
        dataTable<SourcePulls>({
          name: 'sources',
          caption: 'Sources of sources.json (live)',
          columns,
          rows: sources,
          command: 'offerline sources list',
          empty: html`No network is pulled: <code>sources.json</code> names none. You can also put catalogs into
            <code>landing/offers</code>; <code>offerline sources check</code> tries new entries.`,
        }),
      ],
    };
  },
};

/** The messages name the file and the key, never a value. */
function pullsOf({ data, settings, now }: PageRequest): { sources: SourcePulls[]; error?: string } {
  try {
    return { sources: readPulls(data, settings, now) };
  } catch (error) {
    if (error instanceof OfferlineError) return { sources: [], error: error.message };
    throw error;
  }
}
