import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { linkTo } from '../../html/values.ts';
import type { Page } from '../../page/page.ts';
import { curedReason } from '../reference/fields.ts';

type ReasonRow = ConsoleRow<'reject_reasons'>;

const columns: readonly Column<ReasonRow>[] = [
  { name: 'reason', title: 'Reason, and what helps', show: ({ reason }) => curedReason(reason) },
  { name: 'kind', title: 'Kind' },
  { name: 'rows_of_last_day', title: 'Rows, last 24 h', kind: 'number' },
  { name: 'rows', title: 'Rows', kind: 'number' },
  { name: 'files', title: 'Files', kind: 'number' },
  {
    name: 'last_file_id',
    title: 'Last file',
    show: ({ last_file_id }) => linkTo('files', last_file_id, `file ${last_file_id}`),
  },
  { name: 'last_ingested_at', title: 'Read at', kind: 'moment' },
];

export const rejectsPage: Page = {
  path: '/rejects',
  async show({ snapshot }) {
    const reasons = await snapshot.ask('reject_reasons');
    return {
      title: 'Rejected rows',
      question: 'Why were rows rejected, and what helps? Of each file the first 1,000.',
      parts: [
        dataTable<ReasonRow>({
          name: 'reasons',
          caption: 'Reasons, newest first',
          columns,
          ...reasons,
          command: 'offerline sql "SELECT reason, count(*) FROM rejects GROUP BY reason"',
          empty: 'No row was rejected.',
        }),
        html`<p><a href="/files?sort=rejected.down">Files by rejected rows</a></p>`,
      ],
    };
  },
};
