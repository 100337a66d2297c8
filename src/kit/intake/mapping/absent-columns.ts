import { withElse, type FieldMapping } from './field-schema.ts';
import type { RecordMapping } from './compile-mapping.ts';
import type { FieldMap } from './mapping-schema.ts';

/** Columns that a mapping reads and a table lacks, or places that no record has. */
export interface AbsentColumns {
  /** The field of ours, or `rows`. */
  field: string;
  places: string[];
  /** They decide which records count, which values of the field do, or what amounts are worth. */
  decide: boolean;
}

/**
 * Returns what a table cannot give: fields of which no place is a column and no constant is said, and conditions, deny
 * lists and further lists without their column, whatever else the field has.
 */
export function absentColumns(mapping: RecordMapping, columns: readonly string[]): AbsentColumns[] {
  return absentPlaces(mapping, (place) => isColumn(place, columns));
}

/** Returns the same of records by whether one of them has a place. */
export function absentPlaces({ rows = [], fields }: RecordMapping, has: (place: string) => boolean): AbsentColumns[] {
  const isThere = (places: readonly string[]) =>
    places.length === 0 || places.some((place) => place === '' || has(place));
  const lost = (choices: readonly (readonly string[])[]) => choices.filter((places) => !isThere(places)).flat();
  const deciding = [{ field: 'rows', places: lost(rows.map(({ at }) => [at])) }];
  const valued: Omit<AbsentColumns, 'decide'>[] = [];
  for (const [field, rule] of Object.entries(withEvents(fields))) {
    const rules = withElse(rule);
    deciding.push({ field, places: lost(rules.flatMap(decidingPlaces)) });
    const places = rules.flatMap(valuePlaces);
    if (!isThere(places) && rules.every(({ value }) => value === undefined)) valued.push({ field, places });
  }
  const found = deciding.filter(({ places }) => places.length > 0).map((each) => ({ ...each, decide: true }));
  const isFound = ({ field }: { field: string }) => found.some((each) => each.field === field);
  return [
    ...found,
    ...valued.filter((each) => !isFound(each)).map((each) => ({ ...each, decide: each.field === 'currency' })),
  ];
}

/** Returns the places in a record that a mapping reads, each once: columns, where the record is one of a table. */
export function placesOfMapping({ rows = [], fields }: RecordMapping): string[] {
  const rules = Object.values(withEvents(fields)).flatMap(withElse);
  const places = rules.flatMap((rule) => [...valuePlaces(rule), ...decidingPlaces(rule).flat()]);
  return [...new Set([...rows.map(({ at }) => at), ...places])].filter((place) => place !== '');
}

function withEvents(fields: FieldMap | undefined): Readonly<Record<string, FieldMapping>> {
  if (fields?.events === undefined) return fields?.fields ?? {};
  const { each, when } = fields.events;
  return { ...fields.fields, events: { each, when } };
}

/** Places of which the first that has a value counts. */
function valuePlaces({ each, at = [] }: Pick<FieldMapping, 'each' | 'at'>): readonly string[] {
  return each === undefined ? at : [each];
}

/** Choices of places, each of which has to be there for the field's value to mean what the mapping says. */
function decidingPlaces({ when = [], except, within }: FieldMapping): (readonly string[])[] {
  const lists = [except, within, typeof within === 'object' ? within.except : undefined];
  const ofLists = lists.map((list) =>
    list === undefined ? [] : typeof list === 'string' ? [list] : valuePlaces(list),
  );
  return [...when.map(({ at }) => [at]), ...ofLists];
}

/** A cell of Parquet may hold an object, of which the place names a member. */
function isColumn(place: string, columns: readonly string[]): boolean {
  return columns.some((column) => place === column || place.startsWith(`${column}.`));
}
