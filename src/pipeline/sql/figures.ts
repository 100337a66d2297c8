import type { MartRow } from './run-model.ts';
import { readModel } from './sql-model.ts';

/** A figure of an offer: the columns of `offer_stats_2d` without the offer and as-of. */
type Figure = Exclude<keyof MartRow<'offer_stats_2d'>, 'offer_id' | 'as_of'>;

/** Returns the names of all figures, in the order of the table. */
export function figureNames(): Figure[] {
  const { columns, key } = readModel('marts', 'offer_stats_2d');
  return Object.keys(columns).filter((name) => !key.includes(name) && name !== 'as_of') as Figure[];
}
