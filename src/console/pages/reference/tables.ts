import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, linkTo, missing, shownNumber } from '../../html/values.ts';
import { ConsoleError, type Page } from '../../page/page.ts';

type TableRow = ConsoleRow<'tables'>;
type ColumnRow = ConsoleRow<'table_columns'>;
type NeighbourRow = ConsoleRow<'table_lineage'>;

const tableColumns: readonly Column<TableRow>[] = [
  { name: 'name', title: 'Table', link: 'tables' },
  { name: 'purpose', title: 'Content' },
  { name: 'columns', title: 'Columns', kind: 'number' },
  { name: 'kind', title: 'Stored as' },
];

const columnColumns: readonly Column<ColumnRow>[] = [
  { name: 'name', title: 'Column' },
  { name: 'type', title: 'Type' },
  { name: 'meaning', title: 'Meaning' },
];

/** A step of a run has neighbours but no columns; a relation outside of the snapshot has no page. */
const neighbourColumns: readonly Column<NeighbourRow>[] = [
  { name: 'direction', title: 'Direction' },
  {
    name: 'name',
    title: 'Table or step',
    show: ({ name, layer }) => (['mart', 'staging'].includes(layer) ? linkTo('tables', name) : html`${name}`),
  },
  { name: 'layer', title: 'Layer' },
];

export const tablesPage: Page = {
  path: '/tables',
  navigation: 'Tables',
  async show({ snapshot }) {
    const tables = await snapshot.ask('tables');
    return {
      title: 'Tables',
      question: 'Which tables of this snapshot can offerline sql read?',
      parts: [
        dataTable<TableRow>({
          name: 'tables',
          caption: 'Tables and views',
          columns: tableColumns,
          ...tables,
          command: 'offerline sql "SHOW TABLES"',
          empty: 'This snapshot has no tables.',
        }),
      ],
    };
  },
};

export const tablePage: Page = {
  path: '/tables/:name',
  async show({ snapshot, path }) {
    const name = path['name'] ?? '';
    const columns = await snapshot.ask('table_columns', { parameters: { name } });
    const neighbours = await snapshot.ask('table_lineage', { parameters: { name } });
    if (columns.rows.length === 0 && neighbours.rows.length === 0)
      throw new ConsoleError(404, `This snapshot has no table "${name}"; /tables lists all tables.`);
    const isTable = columns.rows.length > 0;
    const rows = snapshot.manifest.row_counts[name];
    return {
      title: `${isTable ? 'Table' : 'Step'} ${name}`,
      question: isTable
        ? 'Which columns does this table have, what is it computed from, and what is computed from it?'
        : 'What does this step read, and what reads it? A run computes it and does not store it.',
      parts: [
        isTable &&
          facts([
            ['Rows', rows === undefined ? missing('the manifest does not count them') : shownNumber(rows)],
            ['To read it', html`<code>offerline sql "FROM ${name} LIMIT 100"</code>`],
          ]),
        isTable &&
          dataTable<ColumnRow>({
            name: 'columns',
            caption: 'Columns',
            columns: columnColumns,
            ...columns,
            command: `offerline sql "DESCRIBE ${name}"`,
            empty: '',
          }),
        dataTable<NeighbourRow>({
          name: 'neighbours',
          caption: 'One step up and down',
          columns: neighbourColumns,
          ...neighbours,
          command: 'offerline sql "FROM lineage"',
          empty: 'Its origin is not recorded.',
        }),
      ],
    };
  },
};
