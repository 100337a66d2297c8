import { ConsoleError } from '../../page/console-error.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import type { Page } from '../../page/page.ts';

type FigureRow = ConsoleRow<'figures'>;

const columns: readonly Column<FigureRow>[] = [
  { name: 'metric', title: 'Figure', show: ({ metric }) => html`<a href="/figures/${metric}">${metric}</a>` },
  { name: 'definition', title: 'What it means' },
  { name: 'unit', title: 'Unit' },
  { name: 'served_as', title: 'Shown as' },
];

/** What do the figures mean? */
export const figuresPage: Page = {
  path: '/figures',
  navigation: 'Figures',
  async show({ snapshot }) {
    const answer = await snapshot.ask('figures');
    return {
      title: 'Figures',
      question: 'What does each figure mean, and where is it shown?',
      parts: [
        table<FigureRow>({
          name: 'figures',
          caption: 'Figures',
          columns,
          ...answer,
          command: 'offerline sql "FROM metrics"',
          empty: 'This snapshot tells of no figure.',
        }),
      ],
    };
  },
};

/** What does one figure mean, and how is it computed? */
export const figurePage: Page = {
  path: '/figures/:name',
  async show({ snapshot, path }) {
    const name = path['name'] ?? '';
    const { rows } = await snapshot.ask('figure', { parameters: { name } });
    const [figure] = rows;
    if (figure === undefined)
      throw new ConsoleError(404, `There is no figure "${name}"; /figures has those there are.`);
    const [where = '', column = ''] = figure.served_as.split('.');
    const isTable = /^\w+$/.test(where) && /^\w+$/.test(column);
    return {
      title: `Figure ${figure.metric}`,
      question: figure.definition,
      parts: [
        html`<dl class="facts">
            <dt>Unit</dt>
            <dd>${figure.unit}</dd>
            <dt>Its query gives</dt>
            <dd>${figure.grain}</dd>
            <dt>Shown as</dt>
            <dd>${isTable ? html`<a href="/tables/${where}">${where}</a>.${column}` : figure.served_as}</dd>
          </dl>
          <section id="sql">
            <h2>How it is computed, with the window of this snapshot</h2>
            <pre tabindex="0"><code>${figure.sql}</code></pre>
            <p>On the command line: <code>offerline sql</code> with this query.</p>
          </section>`,
      ],
    };
  },
};
