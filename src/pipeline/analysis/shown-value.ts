import { DuckDBTypeId, type DuckDBValueConverter } from '@duckdb/node-api';
import { columnConverters, type ColumnValue } from '../../kit/duckdb/dialect/rows.ts';

const integers = new Set([DuckDBTypeId.BIGINT, DuckDBTypeId.UBIGINT, DuckDBTypeId.HUGEINT, DuckDBTypeId.UHUGEINT]);
const floats = new Set([DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE]);

/**
 * Values of whatever a person asks for, of any type: as `ColumnValue` says, with what JSON has no exact number for
 * (an integer beyond ±(2⁵³−1), NaN, infinity) and what it does not know at all as text.
 */
export const shownValue: DuckDBValueConverter<ColumnValue> = (value, type, converter) => {
  if (value === null || value === undefined) return null;
  const { typeId } = type;
  if (integers.has(typeId)) return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (floats.has(typeId)) return Number.isFinite(value) ? Number(value) : String(value);
  return columnConverters[typeId]?.(value, type, converter) ?? String(value);
};
