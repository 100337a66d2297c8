import { sql, type RawBuilder } from 'kysely';

/** A list of values for `in`: they travel as one parameter, and there may be a million of them. */
export function listed<Value extends string | number>(
  values: readonly Value[],
  type: 'VARCHAR' | 'INTEGER',
): RawBuilder<Value> {
  return sql<Value>`(SELECT unnest(from_json(${JSON.stringify(values)}, ${JSON.stringify([type])})))`;
}
