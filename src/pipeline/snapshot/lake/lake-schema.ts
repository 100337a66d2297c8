import { clickEventsTable } from './lake-files.ts';
import { eventColumns } from '../../warehouse/event-files.ts';
import { martColumns } from '../../sql/mart-columns.ts';
import { readModel } from '../../sql/sql-model.ts';
import { analyticsTables, analyticsViews, commentOf } from '../content/published-tables.ts';

export interface LakeTable {
  id: number;
  name: string;
  comment: string;
  columns: LakeColumn[];
}

/** A column, or the elements of the column before, which are a list. */
export interface LakeColumn {
  id: number;
  name: string;
  type: string;
  comment: string | null;
  /** The list whose elements it is; null for a column. */
  parent: number | null;
}

/** Returns the lake's tables: those of `analytics.duckdb`, with its comments, and the events behind `clicks`. */
export function lakeSchema(): LakeTable[] {
  const marts = [...analyticsTables, ...analyticsViews].filter((name) => name !== 'clicks');
  const clicks = readModel('marts', 'clicks');
  return [
    ...marts.map((name) => {
      const model = readModel('marts', name);
      return { name, comment: commentOf(model), types: martColumns[name], meanings: model.columns };
    }),
    {
      name: clickEventsTable,
      comment:
        'Clicks as their logs name the offer: by its id, or by source and external_id, which the view clicks looks up. Grain: one row per click.',
      types: eventColumns.clicks,
      meanings: { ...clicks.columns, offer_id: 'The offer, where the click names it by its id; else NULL' },
    },
  ].map(({ name, comment, types, meanings }, index) => ({
    id: index + 1,
    name,
    comment,
    columns: columnsOf(types, meanings),
  }));
}

function columnsOf(types: Readonly<Record<string, string>>, meanings: Readonly<Record<string, string>>): LakeColumn[] {
  const columns: LakeColumn[] = [];
  for (const [name, type] of Object.entries(types)) {
    const column = {
      id: columns.length + 1,
      name,
      type: lakeType(type),
      comment: meanings[name] ?? null,
      parent: null,
    };
    columns.push(column);
    if (column.type === 'list')
      columns.push({
        id: column.id + 1,
        name: 'element',
        type: lakeType(type.slice(0, -2)),
        comment: null,
        parent: column.id,
      });
  }
  return columns;
}

const lakeTypes: Readonly<Record<string, string>> = {
  BOOLEAN: 'boolean',
  INTEGER: 'int32',
  BIGINT: 'int64',
  DOUBLE: 'float64',
  VARCHAR: 'varchar',
  JSON: 'json',
  DATE: 'date',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
  TIMESTAMPTZ: 'timestamptz',
};

/** Returns the specification's name of a type of DuckDB. Throws for one that no mart has yet. */
function lakeType(type: string): string {
  const known = type.endsWith('[]') ? 'list' : type.startsWith('DECIMAL(') ? type.toLowerCase() : lakeTypes[type];
  if (known === undefined) throw new Error(`the lake has no type for ${type}: add it to lakeTypes`);
  return known;
}
