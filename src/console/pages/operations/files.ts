import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { filterForm } from '../../html/filter-form.ts';
import { moment } from '../../html/figures.ts';
import { html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import { orderOf, type Page } from '../../page/page.ts';
import { linkTo, stateOf, textOr } from '../../html/states.ts';

export type FileRow = ConsoleRow<'files'>;

type TotalRow = ConsoleRow<'file_totals'>;

const counts = [
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
    show: ({ kind, status }) => html`<a href="/files?kind=${kind}&amp;status=${status}">${stateOf(status)}</a>`,
  },
  { name: 'files', title: 'Files', kind: 'number' },
  ...counts,
];

export const fileColumns: readonly Column<FileRow>[] = [
  { name: 'file_id', title: 'File', kind: 'number', sortable: true, show: ({ file_id }) => linkTo('files', file_id) },
  { name: 'path', title: 'Path', sortable: true },
  { name: 'kind', title: 'Kind', sortable: true },
  { name: 'status', title: 'State', sortable: true, show: ({ status }) => stateOf(status) },
  ...counts.filter(({ name }) => name !== 'conflicts').map((column) => ({ ...column, sortable: true })),
  { name: 'reason', title: 'Why not loaded', show: ({ reason }) => textOr(reason, 'it was loaded') },
  { name: 'run_id', title: 'Run', kind: 'number', sortable: true, show: ({ run_id }) => linkTo('runs', run_id) },
  { name: 'ingested_at', title: 'Read at', sortable: true, show: ({ ingested_at }) => moment(ingested_at) },
];

/** What arrived, and what was refused? */
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
        'What arrived in the landing folder, and what was refused? Every row was accepted, was there already, or was rejected.',
      parts: [
        table<TotalRow>({
          name: 'totals',
          caption: 'All files by kind',
          columns: totalColumns,
          ...totals,
          empty: html`No file was read yet: put logs and catalogs into <code>landing</code>, then
            <code>offerline run refresh</code>.`,
        }),
        filterForm(address, [
          { name: 'path', title: 'Part of the path' },
          { name: 'kind', title: 'Kind', choices: ['offers', 'clicks', 'conversions'] },
          { name: 'status', title: 'State', choices: ['loaded', 'held', 'quarantined', 'superseded'] },
          { name: 'run', title: 'Run' },
        ]),
        table<FileRow>({
          name: 'files',
          caption: order === undefined ? 'Files, the newest first' : 'Files',
          columns: fileColumns,
          ...files,
          command: 'offerline sql "FROM ingest_files ORDER BY file_id DESC"',
          empty: html`No file is like that. What lies in <code>landing</code> is read by
            <code>offerline run refresh</code>.`,
        }),
      ],
    };
  },
};
