import { hash } from 'node:crypto';
import { quoted } from '../../../kit/text/sql-text.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import { figureParameters, windowStart } from '../../models/windows.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { readModel } from '../../sql/sql-model.ts';
import { commentOf } from '../content/published-tables.ts';
import type { Manifest } from '../manifest.ts';
import { clickEventsTable, lakeFiles, type LakeFile } from './lake-files.ts';
import { lakeSchema, type LakeTable } from './lake-schema.ts';
import { lakeVersion } from './lake-tables.ts';

export type LakeRow = readonly (string | number | boolean | null)[];

const macroNames = ['figures_explained', 'figures_by_site', 'postbacks_by_site'] as const;

/**
 * Returns the rows of the catalog's tables, by their names. Paths of files are relative to `place`, the folder of the
 * snapshots with a separator at its end. Statistics of columns are left out: readers take those of the files.
 */
export function lakeRows(place: string, snapshots: readonly Manifest[]): Record<string, LakeRow[]> {
  const tables = lakeSchema();
  const files = lakeFiles(snapshots);
  const begin = snapshots[0]?.run_id ?? 0;
  const view = tables.length + 1;
  // A macro names its as-of, so that each snapshot has its own.
  const macros = snapshots.flatMap(({ run_id, as_of }, index) =>
    macroNames.map((name, offset) => ({
      id: view + 1 + index * macroNames.length + offset,
      name,
      query: macroQuery(name, as_of),
      begin: run_id,
      end: snapshots[index + 1]?.run_id ?? null,
    })),
  );
  const nextId = view + 1 + macros.length;
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
      changesOf(run_id, run_id === begin, tables, files),
      'offerline',
      snapshot_id,
      null,
    ]),
    schema: [[0, uuidOf('main'), begin, null, 'main', '', true]],
    schema_versions: tables.map(({ id }) => [begin, begin, id]),
    table: tables.map(({ id, name }) => [id, uuidOf(name), begin, null, 0, name, '', true]),
    view: [[view, uuidOf('clicks'), begin, null, 0, 'clicks', 'duckdb', clicksQuery(), '']],
    tag: [
      ...tables.map(({ id, comment }) => [id, begin, null, 'comment', comment]),
      [view, begin, null, 'comment', commentOf(readModel('marts', 'clicks'))],
    ],
    macro: macros.map((macro) => [0, macro.id, macro.name, macro.begin, macro.end]),
    macro_impl: macros.map(({ id, query }) => [id, 0, 'duckdb', query, 'table']),
    macro_parameters: macros
      .filter(({ name }) => name === 'figures_explained')
      .flatMap(({ id }) => [
        [id, 0, 0, 'an_offer_id', 'unknown', 'NULL', 'unknown'],
        // DuckLake has no default that is NULL; so many rows are all of them.
        [id, 0, 1, 'newest', 'unknown', String(2n ** 63n - 1n), 'int64'],
      ]),
    ...columnRows(tables, begin),
    ...fileRows(tables, files),
  };
}

function columnRows(tables: readonly LakeTable[], begin: number): Record<string, LakeRow[]> {
  const columns = tables.flatMap(({ id: table, columns: own }) => own.map((column) => ({ table, ...column })));
  return {
    column: columns.map(({ table, id, name, type, parent }) => {
      const defaultType = type === 'list' ? '' : 'literal';
      return [id, begin, null, table, id, name, type, null, 'NULL', true, parent, defaultType, 'duckdb'];
    }),
    column_tag: columns
      .filter(({ comment }) => comment !== null)
      .map(({ table, id, comment }) => [table, id, begin, null, 'comment', comment]),
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

function fileRows(tables: readonly LakeTable[], files: readonly LakeFile[]): Record<string, LakeRow[]> {
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
function changesOf(id: number, isFirst: boolean, tables: readonly LakeTable[], files: readonly LakeFile[]): string {
  const idOf = new Map(tables.map((table) => [table.name, table.id]));
  const tablesOf = (some: readonly LakeFile[]) => new Set(some.map(({ table }) => idOf.get(table)));
  return [
    ...(isFirst ? ['created_schema:"main"', ...tables.map(({ name }) => `created_table:"main"."${name}"`)] : []),
    ...(isFirst ? ['created_view:"main"."clicks"'] : []),
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

function macroQuery(name: (typeof macroNames)[number], asOf: Moment): string {
  const query = modelQuery('macros', name, figureParameters(asOf));
  // The figures by site count the events that they are given.
  return name === 'figures_by_site'
    ? `WITH ${clickEventsTable} AS NOT MATERIALIZED (SELECT * FROM ${clickEventsTable} WHERE clicked_at BETWEEN TIMESTAMPTZ ${quoted(windowStart(asOf))} AND TIMESTAMPTZ ${quoted(asOf)}) ${query}`
    : query;
}
