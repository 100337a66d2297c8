import { fileCure } from '../../../pipeline/inspect/file-cure.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { statusBadge } from '../../html/badges.ts';
import { filterForm } from '../../html/filter-form.ts';
import { codeText } from '../../html/code-text.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { missing } from '../../html/values.ts';
import { orderOf, type Page } from '../../page/page.ts';

export type FileRow = ConsoleRow<'files'>;
type TotalRow = ConsoleRow<'file_totals'>;

/** Counts of rows, as an equation. */
export const countColumns = [
  { name: 'rows', title: 'Rows', kind: 'number' },
  { name: 'accepted', title: '= accepted', kind: 'number' },
  { name: 'duplicates', title: '+ duplicates', kind: 'number' },
  { name: 'rejected', title: '+ rejected', kind: 'number' },
  { name: 'conflicts', title: 'Conflicts', kind: 'number' },
  { name: 'warnings', title: 'Warnings', kind: 'number' },
] as const;

const totalColumns: readonly Column<TotalRow>[] = [
  { name: 'kind', title: 'Kind', show: ({ kind }) => html`<a href="/files?kind=${kind}">${kind}</a>` },
  {
    name: 'status',
    title: 'State',
    show: ({ kind, status }) => html`<a href="/files?kind=${kind}&amp;status=${status}">${statusBadge(status)}</a>`,
  },
  { name: 'files', title: 'Files', kind: 'number' },
  ...countColumns,
];

export const fileColumns: readonly Column<FileRow>[] = [
  { name: 'file_id', title: 'File', kind: 'number', link: 'files', sortable: true },
  { name: 'path', title: 'Path', sortable: true },
  { name: 'status', title: 'State', kind: 'status', sortable: true },
  ...countColumns.filter(({ name }) => name !== 'conflicts').map((column) => ({ ...column, sortable: true })),
  {
    name: 'reason',
    title: 'Why not loaded',
    show: (row) => (row.reason === null ? missing('it was loaded') : whyNotLoaded(row)),
  },
  { name: 'run_id', title: 'Run', kind: 'number', link: 'runs', sortable: true },
  { name: 'ingested_at', title: 'Read at', kind: 'moment', sortable: true },
];

/** The reason, and of a file that cannot be read what helps. */
function whyNotLoaded({ reason, status }: Pick<FileRow, 'reason' | 'status'>): Html {
  return html`${reason}${status === 'quarantined' && html`: ${codeText(fileCure(reason ?? ''))}`}`;
}

export const filesPage: Page = {
  path: '/files',
  navigation: 'Files',
  async show({ snapshot, address, part }) {
    const parameters = {
      kind: address.get('kind') ?? '',
      status: address.get('status') ?? '',
      run: address.get('run') ?? '',
      path: address.get('path') ?? '',
    };
    const totals = await snapshot.ask('file_totals');
    const order = orderOf(address, fileColumns);
    const files = await snapshot.ask('files', { parameters, order, part });
    return {
      title: 'Files',
      question:
        'What arrived in the landing folder, and what was rejected? Each row was accepted, was a duplicate, or was rejected.',
      parts: [
        dataTable<TotalRow>({
          name: 'totals',
          caption: 'All files by kind',
          columns: totalColumns,
          ...totals,
          empty: html`No file was read yet: put logs and catalogs into <code>landing</code>, then run
            <code>offerline run refresh</code>.`,
        }),
        html`<p>
          Columns of their own, or many rejected rows? <a href="/try-file">Try a file</a> shows how landing reads one,
          with a mapping for it.
        </p>`,
        filterForm(address, [
          { name: 'path', title: 'Part of the path' },
          { name: 'kind', title: 'Kind', choices: ['offers', 'clicks', 'conversions'] },
          { name: 'status', title: 'State', choices: ['loaded', 'held', 'quarantined', 'superseded'] },
          { name: 'run', title: 'Run' },
        ]),
        dataTable<FileRow>({
          name: 'files',
          caption: order === undefined ? 'Files, newest first' : 'Files',
          columns: fileColumns,
          ...files,
          command: 'offerline sql "FROM ingest_files ORDER BY file_id DESC"',
          empty: html`No file matches. <code>offerline run refresh</code> reads new files in <code>landing</code>.`,
        }),
      ],
    };
  },
};
