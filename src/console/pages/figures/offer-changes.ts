import type { Answer } from '../../data/console-snapshot.ts';
import { moment, unknown } from '../../html/figures.ts';
import { html, type Html } from '../../html/html.ts';
import { table, type Column, type TablePart } from '../../html/table.ts';

/** What one version of an offer says otherwise than the one before. */
export interface Change {
  version: number;
  valid_from: string;
  run_id: number;
  field: string;
  before: string | null;
  after: string | null;
}

const columns: readonly Column<Change>[] = [
  { name: 'version', title: 'Version', kind: 'number' },
  { name: 'valid_from', title: 'Since', show: ({ valid_from }) => moment(valid_from) },
  { name: 'run_id', title: 'Run', kind: 'number', show: ({ run_id }) => html`<a href="/runs/${run_id}">${run_id}</a>` },
  { name: 'field', title: 'Field' },
  { name: 'before', title: 'Before', show: ({ before }) => said(before, 'del') },
  { name: 'after', title: 'Now', show: ({ after }) => said(after, 'ins') },
];

/** The versions of an offer, as what each of them changed. */
export function changesTable(changes: Answer<Change>, offerId: string): TablePart {
  return table<Change>({
    name: 'changes',
    caption: 'What its catalog has changed of it',
    columns,
    ...changes,
    command: `offerline sql "FROM offer_history WHERE offer_id = ${offerId}"`,
    empty: 'Nothing: it is as its catalog first had it.',
  });
}

function said(value: string | null, how: 'del' | 'ins'): Html {
  if (value === null) return unknown('nothing was said of it');
  const text = value === '' || value === '[]' ? html`<span class="quiet">empty</span>` : html`${value}`;
  return how === 'del' ? html`<del>${text}</del>` : html`<ins>${text}</ins>`;
}
