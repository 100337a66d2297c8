import { Address } from '../html/address.ts';
import type { Html } from '../../kit/html/html.ts';
import { dataTable, type Column } from '../html/table.ts';
import { shownNumber } from '../html/values.ts';

/** Rows of a preview; its counts are of all rows. */
const maxRows = 200;

/** A table of a preview: without SQL, command and CSV file. */
export function planTable<R extends object>(caption: string, rows: readonly R[], columns: readonly Column<R>[]): Html {
  const first = rows.slice(0, maxRows);
  const cut = first.length < rows.length ? `: the first ${first.length} of ${shownNumber(rows.length)}` : '';
  const table = dataTable<R>({ name: 'changes', caption: `${caption}${cut}`, columns, rows: first, empty: 'None.' });
  return table.markup(new Address('/actions'));
}
