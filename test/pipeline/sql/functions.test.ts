import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inMemory, openDuckDB, type OpenDuckDB } from '../../../src/kit/duckdb/open.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { withFunctions } from '../../../src/pipeline/sql/model-query.ts';

let database: OpenDuckDB;
let connection: DuckDBConnection;
beforeAll(async () => {
  database = await openDuckDB(inMemory);
  ({ connection } = database);
});
afterAll(() => database.close());

const money = (amount: string) => `'${amount}'::DECIMAL(15, 6)`;
const share = (commission: string) => `'${commission}'::DECIMAL(7, 6)`;

it.each([
  ['nothing without clicks', `epc(${money('5')}, 0::BIGINT)`, '0.000000'],
  ['half a millionth up', `epc(${money('0.000001')}, 2::BIGINT)`, '0.000001'],
  ['less than half a millionth down', `epc(${money('0.000001')}, 3::BIGINT)`, '0.000000'],
  [
    'sums beyond what DOUBLE has digits for',
    `epc('123456789012345678.123457'::DECIMAL(24, 6), 1::BIGINT)`,
    '123456789012345678.123457',
  ],
  ['a ratio, not a percentage', 'cvr(1::BIGINT, 3::BIGINT)', '0.333333'],
  ['more than one', 'cvr(5::BIGINT, 3::BIGINT)', '1.666667'],
  ['no conversion rate without clicks', 'cvr(5::BIGINT, 0::BIGINT)', '0.000000'],
  ['a tenth more is not up yet', 'trend(11, 10)', 'stable'],
  ['more than a tenth', 'trend(12, 10)', 'up'],
  ['a tenth less is not down yet', 'trend(9, 10)', 'stable'],
  ['less than that', 'trend(8, 10)', 'down'],
  ['nothing after nothing', 'trend(0, 0)', 'stable'],
  ['half of a ten-thousandth up', `after_commission(${money('0.0001')}, ${share('0.5')})`, '0.0001'],
  ['the dearest payout', `after_commission(${money('999999999.999998')}, ${share('0.572444')})`, '427556000.0000'],
  [
    'the dearest reward',
    `reward(${money('999999999.999998')}, ${share('0.000001')}, '1000.000001'::VARCHAR)`,
    '999999000999.9970',
  ],
  ['rounded once, not after the commission already', `reward(${money('0.0001')}, ${share('0.5')}, 0.9)`, '0.0000'],
  ['the id decides what a click names', `name_part(7, 'network')`, ''],
  ['the day in UTC', `utc_day(TIMESTAMPTZ '2026-03-10T01:00:00+02:00')::VARCHAR`, '2026-03-09'],
  ['else the name', `name_part(NULL, 'network')`, 'network'],
])('%s: %s is %s', async (_, call, expected) => {
  expect(await queryRows(connection, withFunctions(`SELECT ${call} AS value`))).toEqual([{ value: expected }]);
});
