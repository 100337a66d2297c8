import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DOUBLE,
  HUGEINT,
  INTEGER,
  LIST,
  SQLNULL,
  TIMESTAMPTZ,
  VARCHAR,
  blobValue,
  listValue,
  timestampTZValue,
} from '@duckdb/node-api';
import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';

const int32 = { least: -(2 ** 31), greatest: 2 ** 31 - 1 };
const int64 = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n };

/** Parameters for DuckDB. Undefined members mean none, which lets DuckDB run several statements at once. */
interface BoundParameters {
  values: DuckDBValue[] | undefined;
  types: DuckDBType[] | undefined;
}

/**
 * Converts parameters for `$1, $2 …`: string, number, bigint, boolean, null, `Date` (TIMESTAMPTZ), `Uint8Array` (BLOB)
 * and arrays of these. Text binds as VARCHAR and is cast where it is compared with or written to a column, so money and
 * moments are passed as text. Throws `TypeError` naming the parameter.
 */
export function bindParameters(parameters: readonly unknown[]): BoundParameters {
  if (parameters.length === 0) return { values: undefined, types: undefined };
  const bound = parameters.map((parameter, index) => {
    try {
      return bind(parameter);
    } catch (error) {
      throw new TypeError(`parameter $${index + 1} ${(error as Error).message}`, { cause: error });
    }
  });
  return { values: bound.map(({ value }) => value), types: bound.map(({ type }) => type) };
}

interface Bound {
  value: DuckDBValue;
  type: DuckDBType;
}

function bind(parameter: unknown): Bound {
  if (parameter === null) return { value: null, type: SQLNULL };
  if (typeof parameter === 'string') return { value: parameter, type: VARCHAR };
  if (typeof parameter === 'boolean') return { value: parameter, type: BOOLEAN };
  if (typeof parameter === 'bigint') return { value: parameter, type: isInt64(parameter) ? BIGINT : HUGEINT };
  if (typeof parameter === 'number') return bindNumber(parameter);
  if (parameter instanceof Date) {
    if (Number.isNaN(parameter.getTime())) throw new TypeError('is an invalid Date');
    return { value: timestampTZValue(BigInt(parameter.getTime()) * 1000n), type: TIMESTAMPTZ };
  }
  if (parameter instanceof Uint8Array) return { value: blobValue(parameter), type: BLOB };
  if (Array.isArray(parameter)) return bindList(parameter);
  throw new TypeError(
    `is of a kind that has no column type (${typeof parameter}); give an object as JSON text, undefined as null`,
  );
}

function bindNumber(parameter: number): Bound {
  if (!Number.isInteger(parameter)) return { value: parameter, type: DOUBLE };
  if (parameter >= int32.least && parameter <= int32.greatest) return { value: parameter, type: INTEGER };
  if (!Number.isSafeInteger(parameter))
    throw new TypeError('is an integer beyond 2^53, which a number cannot hold exactly; give a bigint');
  return { value: BigInt(parameter), type: BIGINT };
}

function bindList(parameter: unknown[]): Bound {
  const items = parameter.map(bind);
  const type = items.map((item) => item.type).reduce(commonType, SQLNULL);
  const values = items.map(({ value }) => convert(value, type));
  return { value: listValue(values), type: LIST(type) };
}

/** The type that holds both; the integer widths and DOUBLE widen, everything else must be equal. */
function commonType(left: DuckDBType, right: DuckDBType): DuckDBType {
  if (left.typeId === SQLNULL.typeId) return right;
  if (right.typeId === SQLNULL.typeId || left.toString() === right.toString()) return left;
  const widening = [INTEGER, BIGINT, HUGEINT, DOUBLE];
  const wider = Math.max(...[left, right].map(({ typeId }) => widening.findIndex((type) => type.typeId === typeId)));
  const bothNumeric = [left, right].every(({ typeId }) => widening.some((type) => type.typeId === typeId));
  if (!bothNumeric) throw new TypeError(`is a list of ${left.toString()} and ${right.toString()}; a list has one type`);
  return widening[wider] ?? DOUBLE;
}

function convert(value: DuckDBValue, type: DuckDBType): DuckDBValue {
  if (value === null) return null;
  if (type.typeId === DOUBLE.typeId) return Number(value);
  if (type.typeId === BIGINT.typeId || type.typeId === HUGEINT.typeId) return BigInt(value as number | bigint);
  return value;
}

function isInt64(value: bigint): boolean {
  return value >= int64.least && value <= int64.greatest;
}
