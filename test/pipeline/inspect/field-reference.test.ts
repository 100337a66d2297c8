import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { insertRows } from '../../../src/kit/duckdb/insert-rows.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { makeEmptyTempTable } from '../../../src/kit/duckdb/temp-table.ts';
import { mappedFields } from '../../../src/kit/intake/mapping/mapped-fields.ts';
import { landingKinds, type EventKind, type LandingKind } from '../../../src/kit/vocabulary/values.ts';
import { fileProblems } from '../../../src/pipeline/inspect/file-cure.ts';
import { fieldReference, leastRecords, type JsonExample } from '../../../src/pipeline/inspect/field-reference.ts';
import { parseOfferRecord } from '../../../src/pipeline/landing/catalog/offer-record.ts';
import { clickSchema, conversionSchema } from '../../../src/pipeline/landing/logs/log-fields.ts';
import { parsedLog } from '../../../src/pipeline/landing/logs/log-parser.ts';

const wallClock = '2026-11-20T00:00:00Z';
const reference = fieldReference();

interface Tried {
  what: string;
  line: string;
  /** Code that reading has to give; undefined where the record is read without a warning. */
  code: string | undefined;
}

/** The least record with each example and each wrong value of each field in turn. */
function records(kind: LandingKind): Tried[] {
  const tried = (field: string, value: JsonExample, code?: string): Tried => {
    const record: Record<string, JsonExample> = { ...leastRecords[kind], [field]: value };
    return { what: `${field} ${JSON.stringify(value)}`, line: JSON.stringify(record), code };
  };
  return reference[kind].flatMap(({ name, examples, wrong }) => [
    ...examples.map((value) => tried(name, value)),
    ...wrong.map(([value, code]) => tried(name, value, code)),
  ]);
}

function codesOfOffers(lines: readonly string[]): (string | undefined)[] {
  return lines.map((line) => {
    const read = parseOfferRecord(line, { currencyRates: {}, wallClock: new Date(wallClock), textCells: false });
    return 'reject' in read ? read.reject : read.warnings[0]?.warning;
  });
}

async function codesOfLog(kind: EventKind, lines: readonly string[]): Promise<(string | undefined)[]> {
  const schema = kind === 'clicks' ? clickSchema({ wallClock }) : conversionSchema({ wallClock });
  return withDuckDB(inMemory, { threads: '1' }, async (connection) => {
    await connection.run(`SET TimeZone = 'UTC'`);
    const table = await makeEmptyTempTable(connection, 'tried', 'line BIGINT, raw VARCHAR');
    const rows = lines.map((raw, line) => ({ line, raw }));
    await insertRows(connection, table, { line: 'BIGINT', raw: 'VARCHAR' }, rows);
    const read = await queryRows<
      { line: number | null; code: string | null; warnings: number } & Record<string, unknown>
    >(
      connection,
      `SELECT *, reject->>'reason' AS code FROM (${parsedLog(schema, '(SELECT 1 AS file_id, line, raw FROM tried)')})`,
    );
    const codes: (string | undefined)[] = Array.from({ length: lines.length });
    for (const { line, code, warnings, reject } of read) {
      const at = line ?? (JSON.parse(String(reject)) as { line: number }).line;
      codes[at] = code ?? (warnings === 0 ? undefined : 'dropped');
    }
    return codes;
  });
}

it.each(landingKinds)(
  '%s: each example is read, each wrong value has the code that the reference names',
  async (kind) => {
    const tried = records(kind);
    const lines = tried.map(({ line }) => line);
    const codes = kind === 'offers' ? codesOfOffers(lines) : await codesOfLog(kind, lines);
    const dropped = new Map(reference[kind].map((field) => [field.name, field.dropped]));
    const expected = tried.map(({ what, code }) => {
      const isDropped = kind !== 'offers' && dropped.get(what.split(' ')[0] ?? '') === true;
      return [what, code !== undefined && isDropped ? 'dropped' : code];
    });
    expect(tried.map(({ what }, index) => [what, codes[index]])).toEqual(expected);
  },
);

it.each(landingKinds)('%s: every field is described, and the required ones are those that landing asks for', (kind) => {
  const fields = reference[kind];
  const needed = mappedFields[kind].required.flatMap((choice) => (choice.length === 1 ? choice : []));
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  // Rows of state have a status in place of a kind.
  expect(required.filter((name) => name !== 'kind')).toEqual(needed);
  expect(
    fields.filter(({ meaning, form, examples }) => !(meaning && form && examples.length)).map(({ name }) => name),
  ).toEqual([]);
  const shown = new Set(fields.flatMap(({ wrong }) => wrong.map(([, code]) => code)));
  const unshown = fields.flatMap(({ rejects }) => rejects).filter((reason) => !shown.has(reason));
  // Another offer has the id, which one record does not show.
  expect(unshown).toEqual(kind === 'offers' ? ['id_taken'] : []);
});

it('every code of a file that cannot be read has a cure', () => {
  const root = join(import.meta.dirname, '../../../src');
  const texts = [
    'kit/intake/reading',
    'pipeline/landing/lines',
    'pipeline/landing/files',
    'pipeline/ingest/engine',
  ].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  );
  const codes = texts.flatMap((text) =>
    [...text.matchAll(/(?:QuarantineError\(\s*|reason: )'(\w+)'/g)].map(([, code = '']) => code),
  );
  expect(new Set(codes).size).toBeGreaterThan(20);
  expect(codes.filter((code) => !fileProblems.includes(code))).toEqual([]);
});
