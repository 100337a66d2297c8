import { DuckDBTypeId, type DuckDBValueConverter } from '@duckdb/node-api';
import { columnConverters, type ColumnValue } from '../../kit/duckdb/dialect/rows.ts';

const integers = new Set([DuckDBTypeId.BIGINT, DuckDBTypeId.UBIGINT, DuckDBTypeId.HUGEINT, DuckDBTypeId.UHUGEINT]);
const floats = new Set([DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE]);

/**
 * Converts values of any type for an answer. Numbers that JSON has not exactly (integers beyond ±(2⁵³−1), NaN,
 * infinity) and types that it lacks become text.
 */
export const shownValue: DuckDBValueConverter<ColumnValue> = (value, type, converter) => {
  if (value === null || value === undefined) return null;
  const { typeId } = type;
  if (integers.has(typeId)) return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (floats.has(typeId)) return Number.isFinite(value) ? Number(value) : String(value);
  if (typeId === DuckDBTypeId.BLOB) return String(value);
  return columnConverters[typeId]?.(value, type, converter) ?? String(value);
};
