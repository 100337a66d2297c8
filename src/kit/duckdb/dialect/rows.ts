import {
  createDuckDBValueConverter,
  DuckDBBlobValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTypeId,
  arrayFromArrayValue,
  arrayFromListValue,
  objectArrayFromMapValue,
  objectFromStructValue,
} from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBResult, DuckDBValueConverter } from '@duckdb/node-api';
import { momentOf } from '../../time/moment.ts';
import { bindParameters } from './parameters.ts';

/**
 * JavaScript values of columns, the same through Kysely and through raw queries: integers of any width → number (one
 * beyond ±(2⁵³−1) throws), DOUBLE → number, DECIMAL → exact text, TIMESTAMPTZ → `Moment` text in UTC with microseconds,
 * DATE → `YYYY-MM-DD`, JSON, VARCHAR, ENUM, UUID → text, lists → arrays, STRUCT → object, MAP → array of `{key,
 * value}`, BLOB → bytes.
 */
export type ColumnValue =
  null | boolean | number | string | Uint8Array | ColumnValue[] | { [name: string]: ColumnValue };
export type QueryRow = Record<string, ColumnValue>;

type Converter = DuckDBValueConverter<ColumnValue>;

const asIs: Converter = (value) => value as ColumnValue;
const asText: Converter = (value) => String(value);

const safeInteger: Converter = (value, type) => {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) {
    throw new RangeError(
      `${String(value)} does not fit a JavaScript number exactly; cast the ${type.toString()} column to VARCHAR or DECIMAL in the query`,
    );
  }
  return number;
};

const momentText: Converter = (value) => {
  const timestamp = value as DuckDBTimestampTZValue;
  return timestamp.isFinite ? momentOf(timestamp.micros) : String(timestamp);
};

/** A TIMESTAMP knows no zone, so its text has no `Z`. */
const localText: Converter = (value) => {
  const timestamp = value as DuckDBTimestampValue;
  return timestamp.isFinite ? momentOf(timestamp.micros).slice(0, -1) : String(timestamp);
};

export const columnConverters: Partial<Record<DuckDBTypeId, Converter>> = {
  [DuckDBTypeId.SQLNULL]: () => null,
  [DuckDBTypeId.BOOLEAN]: asIs,
  [DuckDBTypeId.TINYINT]: asIs,
  [DuckDBTypeId.SMALLINT]: asIs,
  [DuckDBTypeId.INTEGER]: asIs,
  [DuckDBTypeId.UTINYINT]: asIs,
  [DuckDBTypeId.USMALLINT]: asIs,
  [DuckDBTypeId.UINTEGER]: asIs,
  [DuckDBTypeId.FLOAT]: asIs,
  [DuckDBTypeId.DOUBLE]: asIs,
  [DuckDBTypeId.BIGINT]: safeInteger,
  [DuckDBTypeId.UBIGINT]: safeInteger,
  [DuckDBTypeId.HUGEINT]: safeInteger,
  [DuckDBTypeId.UHUGEINT]: safeInteger,
  [DuckDBTypeId.VARCHAR]: asIs,
  [DuckDBTypeId.ENUM]: asIs,
  [DuckDBTypeId.UUID]: asText,
  [DuckDBTypeId.DECIMAL]: asText,
  [DuckDBTypeId.DATE]: asText,
  [DuckDBTypeId.TIME]: asText,
  [DuckDBTypeId.INTERVAL]: asText,
  [DuckDBTypeId.TIMESTAMP]: localText,
  [DuckDBTypeId.TIMESTAMP_TZ]: momentText,
  [DuckDBTypeId.BLOB]: (value) => Uint8Array.from((value as DuckDBBlobValue).bytes),
  [DuckDBTypeId.LIST]: (value, type, converter) => arrayFromListValue(value, type, converter),
  [DuckDBTypeId.ARRAY]: (value, type, converter) => arrayFromArrayValue(value, type, converter),
  [DuckDBTypeId.STRUCT]: (value, type, converter) => objectFromStructValue(value, type, converter),
  [DuckDBTypeId.MAP]: (value, type, converter) => objectArrayFromMapValue(value, type, converter),
};

/** A column of a type that is not listed above throws; the query casts it. */
const convertValue = createDuckDBValueConverter<ColumnValue>(
  columnConverters as Record<DuckDBTypeId, Converter | undefined>,
);

/** Returns all rows of a result. */
export async function rowsOf(result: DuckDBResult): Promise<QueryRow[]> {
  return result.convertRowObjects(convertValue);
}

/** Yields the rows of a streaming result, one chunk (up to 2,048 rows) at a time. */
export function chunksOf(result: DuckDBResult): AsyncIterableIterator<QueryRow[]> {
  return result.yieldConvertedRowObjects(convertValue);
}

/**
 * Runs raw SQL with `$1`-style parameters and returns its rows as Kysely would. The caller states their shape as `R`.
 */
export async function queryRows<R = QueryRow>(
  connection: DuckDBConnection,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<R[]> {
  const { values, types } = bindParameters(parameters);
  return (await rowsOf(await connection.run(sql, values, types))) as R[];
}
