import { bareName } from '../../../kit/intake/known-names.ts';
import { stateOfWord } from './list-states.ts';
import { listFields, type ListField } from './list-mapping.ts';

/** Names of columns, the likeliest first. Compared without case, blanks and punctuation. */
const columnNames: Readonly<Record<ListField, readonly string[]>> = {
  click_id: ['clickid', 'click', 'clickuuid', 'trackingid'],
  conversion_id: ['conversionid', 'conversion', 'transactionid', 'txnid', 'txid'],
  reward: ['reward', 'rewardamount', 'amount', 'points', 'payout', 'value', 'revenue'],
  state: ['state', 'status', 'conversionstatus', 'event', 'type'],
  time: ['creditedat', 'occurredat', 'time', 'timestamp', 'datetime', 'date', 'createdat', 'receivedat', 'when'],
};

/** Columns of such a name may as well say which milestone was reached. */
const namesOfOtherThings = new Set(['event', 'type']);

export type ListColumns = Partial<Record<ListField, string>>;

/**
 * Finds the columns of a list by their names. `valuesOf`: a column's values, by which one that only may hold states is
 * left out where none of them is known as such.
 */
export function findColumns(names: readonly string[], valuesOf: (name: string) => Iterable<string>): ListColumns {
  const plain = new Map(names.toReversed().map((name) => [plainColumn(name), name]));
  const found: ListColumns = {};
  for (const field of listFields) {
    const known = columnNames[field].find((candidate) => {
      const column = plain.get(candidate);
      return column !== undefined && (!namesOfOtherThings.has(candidate) || hasStates(valuesOf(column)));
    });
    const column = known === undefined ? undefined : plain.get(known);
    if (column !== undefined) found[field] = column;
  }
  return found;
}

/** Counts the fields of a list that a header names; 0 where it lacks the click. `places`: columns of a mapping. */
export function headerScore(cells: readonly string[], places: ReadonlyMap<ListField, readonly string[]>): number {
  const plain = new Set(cells.map(plainColumn));
  const named = listFields.filter((field) => {
    const asked = places.get(field);
    return asked === undefined
      ? columnNames[field].some((name) => plain.has(name))
      : asked.some((place) => cells.includes(place));
  });
  return named.includes('click_id') ? named.length : 0;
}

function plainColumn(name: string): string {
  return bareName(name).replaceAll(/[^a-z0-9]/g, '');
}

function hasStates(values: Iterable<string>): boolean {
  for (const value of values) if (value.trim() !== '' && stateOfWord(value) !== undefined) return true;
  return false;
}
