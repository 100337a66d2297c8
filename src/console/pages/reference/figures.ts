import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, linkTo } from '../../html/values.ts';
import { ConsoleError, type Page } from '../../page/page.ts';

type FigureRow = ConsoleRow<'figures'>;

const columns: readonly Column<FigureRow>[] = [
  { name: 'metric', title: 'Figure', link: 'figures' },
  { name: 'definition', title: 'Definition' },
  { name: 'unit', title: 'Unit' },
  { name: 'served_as', title: 'Shown as' },
];

export const figuresPage: Page = {
  path: '/figures',
  navigation: 'Figures',
  async show({ snapshot }) {
    const figures = await snapshot.ask('figures');
    return {
      title: 'Figures',
      question: 'What does each figure mean, and where is it shown?',
      parts: [
        dataTable<FigureRow>({
          name: 'figures',
          caption: 'Figures',
          columns,
          ...figures,
          command: 'offerline sql "FROM metrics"',
          empty: 'This snapshot defines no figure.',
        }),
      ],
    };
  },
};

export const figurePage: Page = {
  path: '/figures/:name',
  async show({ snapshot, path }) {
    const name = path['name'] ?? '';
    const { rows } = await snapshot.ask('figure', { parameters: { name } });
    const [figure] = rows;
    if (figure === undefined) throw new ConsoleError(404, `There is no figure "${name}"; /figures lists all figures.`);
    const [where = '', column = ''] = figure.served_as.split('.');
    const isTable = /^\w+$/.test(where) && /^\w+$/.test(column);
    return {
      title: `Figure ${figure.metric}`,
      question: figure.definition,
      parts: [
        facts([
          ['Unit', figure.unit],
          ['Its query returns', figure.grain],
          ['Shown as', isTable ? html`${linkTo('tables', where)}.${column}` : figure.served_as],
        ]),
        html`<section id="sql">
          <h2>Its query, with the window of this snapshot</h2>
          <pre tabindex="0"><code>${figure.sql}</code></pre>
          <p>On the command line: <code>offerline sql</code> with this query.</p>
        </section>`,
      ],
    };
  },
};
