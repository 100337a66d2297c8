import { ConsoleError } from '../../page/console-error.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { figureText, unknown } from '../../html/figures.ts';
import { html, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import type { Page } from '../../page/page.ts';

type TableRow = ConsoleRow<'tables'>;

type ColumnRow = ConsoleRow<'table_columns'>;

type NeighbourRow = ConsoleRow<'table_lineage'>;

const tableColumns: readonly Column<TableRow>[] = [
  { name: 'name', title: 'Table', show: ({ name }) => html`<a href="/tables/${encodeURIComponent(name)}">${name}</a>` },
  { name: 'purpose', title: 'What it has' },
  { name: 'columns', title: 'Columns', kind: 'number' },
  { name: 'kind', title: 'Kept as' },
];

const columnColumns: readonly Column<ColumnRow>[] = [
  { name: 'name', title: 'Column' },
  { name: 'type', title: 'Type' },
  { name: 'meaning', title: 'What it means' },
];

/** Steps in between have neighbours and no columns of their own; what lies outside of the snapshot has neither. */
const neighbourColumns: readonly Column<NeighbourRow>[] = [
  { name: 'direction', title: 'It' },
  {
    name: 'name',
    title: 'Table or step',
    show: ({ name, layer }) =>
      ['mart', 'staging'].includes(layer)
        ? html`<a href="/tables/${encodeURIComponent(name)}">${name}</a>`
        : html`${name}`,
  },
  { name: 'layer', title: 'Layer' },
];

/** What can be asked of a snapshot? */
export const tablesPage: Page = {
  path: '/tables',
  navigation: 'Tables',
  async show({ snapshot }) {
    const answer = await snapshot.ask('tables');
    return {
      title: 'Tables',
      question: 'What can be asked of this snapshot by offerline sql?',
      parts: [
        table<TableRow>({
          name: 'tables',
          caption: 'Tables and views',
          columns: tableColumns,
          ...answer,
          command: 'offerline sql "SHOW TABLES"',
          empty: 'This snapshot has no tables.',
        }),
      ],
    };
  },
};

/** What does one table have, and where does it come from? */
export const tablePage: Page = {
  path: '/tables/:name',
  async show({ snapshot, path }) {
    const name = path['name'] ?? '';
    const columns = await snapshot.ask('table_columns', { parameters: { name } });
    const neighbours = await snapshot.ask('table_lineage', { parameters: { name } });
    if (columns.rows.length === 0 && neighbours.rows.length === 0)
      throw new ConsoleError(404, `This snapshot has no table "${name}"; /tables has those there are.`);
    const isTable = columns.rows.length > 0;
    return {
      title: `${isTable ? 'Table' : 'Step'} ${name}`,
      question: isTable
        ? 'What does it have, what is it computed from, and what is computed from it?'
        : 'What does this step read, and what reads it? It is computed while a run works, and not kept.',
      parts: [
        ...(isTable ? [rowsOf(name, snapshot.manifest.row_counts[name])] : []),
        ...(isTable
          ? [
              table<ColumnRow>({
                name: 'columns',
                caption: 'Columns',
                columns: columnColumns,
                ...columns,
                command: `offerline sql "DESCRIBE ${name}"`,
                empty: '',
              }),
            ]
          : []),
        table<NeighbourRow>({
          name: 'neighbours',
          caption: 'One step up and down',
          columns: neighbourColumns,
          ...neighbours,
          command: 'offerline sql "FROM lineage"',
          empty: 'Nothing is known of where it comes from.',
        }),
      ],
    };
  },
};

function rowsOf(name: string, rows: number | undefined): Html {
  return html`<dl class="facts">
    <dt>Rows</dt>
    <dd>${rows === undefined ? unknown('the manifest does not count them') : figureText(rows)}</dd>
    <dt>To read it</dt>
    <dd><code>offerline sql "FROM ${name} LIMIT 100"</code></dd>
  </dl>`;
}
