import { hash } from 'node:crypto';
import { quoted } from '../../../kit/text/sql-text.ts';
import { dayOf, type Moment } from '../../../kit/time/moment.ts';
import { figureParameters, windowStart } from '../../models/windows.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { readModel } from '../../sql/sql-model.ts';
import { commentOf } from '../content/published-tables.ts';
import { dayOfFile } from '../layout.ts';
import type { Manifest } from '../manifest.ts';
import { clickEventsTable, type LakeFile } from './lake-files.ts';
import { lakeSchema, type LakeTable } from './lake-schema.ts';
import { lakeVersion } from './lake-tables.ts';

export type LakeRow = readonly (string | number | boolean | null)[];

/** Macros and their parameters with defaults; null for one that has to be given. */
const macroParameters = {
  // DuckLake has no default that is NULL; so many rows are all of them.
  figures_explained: { an_offer_id: null, newest: 2n ** 63n - 1n },
  figures_by_site: {},
  postbacks_by_site: {},
  figures_by_country: { days: 30n },
  figures_by_click_day: { days: 30n },
  reversals_by_source: { days: 30n },
} as const;
const macroNames = Object.keys(macroParameters) as (keyof typeof macroParameters)[];

/** Rows of tables of the catalog, by the tables' names. */
export type LakeRows = Record<string, LakeRow[]>;

/** Snapshot from which on what all snapshots have is there: one before any of a run. */
const always = 0;

/** Returns the rows that are alike in every catalog: tables and columns, the view `clicks`, and comments. */
export function schemaRows(): LakeRows {
  const tables = lakeSchema();
  const view = viewId(tables);
  return {
    schema: [[0, uuidOf('main'), always, null, 'main', '', true]],
    schema_versions: tables.map(({ id }) => [always, always, id]),
    table: tables.map(({ id, name }) => [id, uuidOf(name), always, null, 0, name, '', true]),
    view: [[view, uuidOf('clicks'), always, null, 0, 'clicks', 'duckdb', clicksQuery(), '']],
    tag: [
      ...tables.map(({ id, comment }) => [id, always, null, 'comment', comment]),
      [view, always, null, 'comment', commentOf(readModel('marts', 'clicks'))],
    ],
    ...columnRows(tables),
  };
}

/**
 * Returns the rows of snapshots, their files and macros. Paths of files are relative to `place`, a folder or an address
 * with a separator at its end. Statistics of columns are left out: readers take those of the files.
 */
export function snapshotRows(place: string, snapshots: readonly Manifest[], files: readonly LakeFile[]): LakeRows {
  const tables = lakeSchema();
  const firstMacro = viewId(tables) + 1;
  // A macro names its as-of, so that each snapshot has its own.
  const macros = snapshots.flatMap(({ run_id, as_of }, index) =>
    macroNames.map((name, offset) => ({
      id: firstMacro + index * macroNames.length + offset,
      name,
      query: macroQuery(name, as_of),
      begin: run_id,
      end: snapshots[index + 1]?.run_id ?? null,
    })),
  );
  const nextId = firstMacro + macros.length;
  return {
    metadata: [
      ['version', lakeVersion, null, null],
      ['created_by', 'offerline', null, null],
      ['data_path', place, null, null],
      ['encrypted', 'false', null, null],
    ],
    snapshot: snapshots.map(({ run_id, as_of }) => [run_id, as_of, run_id, nextId, files.length]),
    snapshot_changes: snapshots.map(({ run_id, snapshot_id }) => [
      run_id,
      changesOf(run_id, tables, files),
      'offerline',
      snapshot_id,
      null,
    ]),
    macro: macros.map((macro) => [0, macro.id, macro.name, macro.begin, macro.end]),
    macro_impl: macros.map(({ id, query }) => [id, 0, 'duckdb', query, 'table']),
    macro_parameters: macros.flatMap(({ id, name }) =>
      Object.entries<bigint | null>(macroParameters[name]).map(([parameter, byDefault], index) => [
        id,
        0,
        index,
        parameter,
        'unknown',
        byDefault === null ? 'NULL' : String(byDefault),
        byDefault === null ? 'unknown' : 'int64',
      ]),
    ),
    ...fileRows(tables, files),
  };
}

/** Tables have the ids from 1 on, then comes the view `clicks`. */
function viewId(tables: readonly LakeTable[]): number {
  return tables.length + 1;
}

function columnRows(tables: readonly LakeTable[]): LakeRows {
  const columns = tables.flatMap(({ id: table, columns: own }) => own.map((column) => ({ table, ...column })));
  return {
    column: columns.map(({ table, id, name, type, parent }) => {
      const defaultType = type === 'list' ? '' : 'literal';
      return [id, always, null, table, id, name, type, null, 'NULL', true, parent, defaultType, 'duckdb'];
    }),
    column_tag: columns
      .filter(({ comment }) => comment !== null)
      .map(({ table, id, comment }) => [table, id, always, null, 'comment', comment]),
    // Files have no ids of columns, so that readers find these by name; the elements of a list are called list there.
    column_mapping: tables.map(({ id }) => [id, id, 'map_by_name']),
    name_mapping: columns.map(({ table, id, name, parent }) => [
      table,
      id,
      parent === null ? name : 'list',
      id,
      parent,
      false,
    ]),
  };
}

function fileRows(tables: readonly LakeTable[], files: readonly LakeFile[]): LakeRows {
  const sums = new Map(tables.map(({ id, name }) => [name, { id, rows: 0, nextRow: 0, bytes: 0 }]));
  const dataFiles: LakeRow[] = [];
  for (const [index, { table, path, rows, bytes, begin, end }] of files.entries()) {
    const sum = sums.get(table);
    // A table of a later version, which this one does not know.
    if (sum === undefined) continue;
    const { id, nextRow } = sum;
    dataFiles.push([
      index,
      id,
      begin,
      end,
      null,
      path,
      true,
      'parquet',
      rows,
      bytes,
      null,
      nextRow,
      null,
      null,
      id,
      null,
    ]);
    sum.nextRow += rows;
    if (end !== null) continue;
    sum.rows += rows;
    sum.bytes += bytes;
  }
  return {
    data_file: dataFiles,
    table_stats: [...sums.values()].map(({ id, rows, nextRow, bytes }) => [id, rows, nextRow, bytes]),
  };
}

/** Returns an id that stays the same from one catalog to the next. */
function uuidOf(name: string): string {
  return hash('md5', `offerline ${name}`, 'hex');
}

/** Returns what a snapshot changes, as the specification writes it. */
function changesOf(id: number, tables: readonly LakeTable[], files: readonly LakeFile[]): string {
  const idOf = new Map(tables.map((table) => [table.name, table.id]));
  const tablesOf = (some: readonly LakeFile[]) => new Set(some.map(({ table }) => idOf.get(table)));
  return [
    ...[...tablesOf(files.filter(({ begin }) => begin === id))].map((table) => `inserted_into_table:${table}`),
    ...[...tablesOf(files.filter(({ end }) => end === id))].map((table) => `deleted_from_table:${table}`),
  ].join(',');
}

/** Returns the query of the view `clicks`. Readers put the name in that they attach the lake by. */
function clicksQuery(): string {
  const tables = [clickEventsTable, 'offers'].map(
    (name) => `${name} AS NOT MATERIALIZED (SELECT * FROM {DUCKLAKE_CATALOG}.main.${name})`,
  );
  return `WITH ${tables.join(', ')} ${modelQuery('marts', 'clicks')}`;
}

function macroQuery(name: keyof typeof macroParameters, asOf: Moment): string {
  const relations = Object.entries(givenRows(name, asOf)).map(
    ([relation, rows]) => `${relation} AS NOT MATERIALIZED (${rows})`,
  );
  const query = modelQuery('macros', name, figureParameters(asOf));
  return relations.length === 0 ? query : `WITH ${relations.join(', ')} ${query}`;
}

/** Returns the rows that a macro counts, by their relation, where these are not simply those of a table. */
function givenRows(name: keyof typeof macroParameters, asOf: Moment): Record<string, string> {
  const all = `SELECT * FROM ${clickEventsTable}`;
  const upTo = `clicked_at <= TIMESTAMPTZ ${quoted(asOf)}`;
  const named = (rows: string) => `SELECT * FROM (${rows}) WHERE offer_id IS NULL`;
  const dated = (table: string) => `SELECT *, ${dayOfFile} AS day FROM ${table}`;
  const ofSite = `${all} WHERE clicked_at >= TIMESTAMPTZ ${quoted(windowStart(asOf))} AND ${upTo}`;
  // Of days that are over the moments are not read.
  const ofDays = [`< DATE '${dayOf(asOf)}'`, `= DATE '${dayOf(asOf)}' AND ${upTo}`]
    .map((days) => `${dated(clickEventsTable)} WHERE ${dayOfFile} ${days}`)
    .join(' UNION ALL ');
  const dated_conversions = dated('conversions');
  const given: Partial<Record<typeof name, Record<string, string>>> = {
    figures_explained: { named_click_events: named(all) },
    figures_by_site: { [clickEventsTable]: ofSite, named_click_events: named(ofSite) },
    figures_by_country: { dated_click_events: ofDays, dated_named_click_events: named(ofDays), dated_conversions },
    reversals_by_source: { dated_conversions },
  };
  return given[name] ?? {};
}
