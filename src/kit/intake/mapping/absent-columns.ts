import { withElse, type FieldMapping } from './field-schema.ts';
import type { FieldMap } from './mapping-schema.ts';

/** A field of ours for which a table has none of the columns that its mapping reads. */
export interface AbsentColumns {
  field: string;
  places: string[];
}

/** Returns the fields that a table cannot give a value: no place of them is a column, and no constant is said. */
export function absentColumns({ fields, events }: FieldMap, columns: readonly string[]): AbsentColumns[] {
  const all = Object.entries(fields);
  if (events !== undefined) all.push(['events', { at: [events.each] }]);
  return all.flatMap(([field, rule]) => {
    const rules = withElse(rule);
    const places = rules.flatMap(placesOf);
    const hasValue = places.length === 0 || rules.some(({ value }) => value !== undefined);
    return hasValue || places.some((place) => isColumn(place, columns)) ? [] : [{ field, places }];
  });
}

function placesOf({ each, at = [] }: FieldMapping): readonly string[] {
  return each === undefined ? at : [each];
}

/** A cell of Parquet may hold an object, of which the place names a member. */
function isColumn(place: string, columns: readonly string[]): boolean {
  return place === '' || columns.some((column) => place === column || place.startsWith(`${column}.`));
}
