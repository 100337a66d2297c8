import { join } from 'node:path';
import type { QueryRow } from '../../../kit/duckdb/dialect/rows.ts';
import { OfferlineError } from '../../../kit/errors/errors.ts';
import { shellWord } from '../../../kit/text/shell-word.ts';
import { visibleLines } from '../../../kit/text/visible-text.ts';
import type { QueryTable } from '../../../pipeline/analysis/answer-query.ts';
import { maxBoxRows } from '../../data/sql-box.ts';
import { Address } from '../../html/address.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type TablePart } from '../../html/table.ts';
import { shownNumber } from '../../html/values.ts';
import { ConsoleError, type Page, type PageRequest } from '../../page/page.ts';

/** Characters of a query: its address has to fit into a request's head. */
const maxQuery = 4000;

const examples = [
  'FROM offer_stats_2d ORDER BY rank LIMIT 10',
  'SELECT site_key, count(*) AS clicks FROM clicks WHERE clicked_at > (SELECT as_of FROM snapshot) - INTERVAL 1 HOUR GROUP BY ALL ORDER BY clicks DESC',
  'SELECT status, count(*) AS conversions, sum(payout) AS payout FROM conversions GROUP BY ALL',
];

/** A query of the reader. Its address is the history of browsers without scripts; others list the last ones, too. */
export const sqlPage: Page = {
  path: '/sql',
  navigation: 'SQL',
  // What the reader asks is not cached: it may be large, or say random().
  live: true,
  async show(request) {
    const { address } = request;
    const query = address.get('q')?.trim() ?? '';
    if (query.length > maxQuery)
      throw new ConsoleError(400, `the query has more than ${maxQuery} characters: use \`offerline sql\``);
    const asked = query === '' ? undefined : await ask(request, query);
    return {
      title: 'SQL',
      question: `What else does this snapshot say? One query that only reads, ${shownNumber(maxBoxRows)} rows at most, for five seconds.`,
      parts: [
        form(address, query),
        typeof asked === 'string' && html`<div class="error" role="alert"><pre>${visibleLines(asked)}</pre></div>`,
        asked !== undefined && typeof asked !== 'string' && answerTable(query, asked),
        html`<section id="history" hidden><h2>Asked in this browser</h2><ol></ol></section>`,
        query === '' &&
          html`<h2>Examples</h2>
            <ul>${examples.map((each) => html`<li>${queryLink(each)}</li>`)}</ul>`,
        html`<p class="quiet">
          <a href="/tables">Tables</a> have their columns with comments. Addresses, agents and rejected rows of logs are not shown
          here: <code>offerline sql</code> on the machine has them, and the snapshot's files.
        </p>`,
      ],
    };
  },
};

/** Returns the error as text where the query cannot be answered. */
async function ask({ sqlBox, snapshot, data }: PageRequest, query: string): Promise<QueryTable | string> {
  try {
    return await sqlBox.ask(join(data.published, snapshot.id), query);
  } catch (error) {
    if (error instanceof OfferlineError) return error.message;
    throw error;
  }
}

function form(address: Address, query: string): Html {
  const snapshot = address.get('snapshot');
  return html`<form method="get" action="/sql" class="query">
    <label for="query">Query</label>
    <textarea id="query" name="q" rows="6" maxlength="${maxQuery}" spellcheck="false" required>${query}</textarea>
    ${snapshot !== undefined && html`<input type="hidden" name="snapshot" value="${snapshot}" />`}
    <p><button class="main">Run</button></p>
  </form>`;
}

function answerTable(query: string, { columns, found: { rows, note } }: QueryTable): TablePart {
  const names = columns.map(({ name }) => name);
  const isNumber = (name: string) =>
    rows.some((row) => typeof row[name] === 'number') &&
    rows.every((row) => row[name] === null || typeof row[name] === 'number');
  return dataTable<QueryRow>({
    name: 'answer',
    caption: note === undefined ? 'Answer' : `Answer: ${note}`,
    columns: names.map((name) => ({ name, title: name, kind: isNumber(name) ? 'number' : 'text' })),
    rows,
    command: `offerline sql ${shellWord(query)}`,
    empty: `No row: ${names.join(', ')}.`,
  });
}

function queryLink(query: string): Html {
  return html`<a href="${new Address('/sql', [['q', query]]).href}"><code>${query}</code></a>`;
}
