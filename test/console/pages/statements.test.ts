import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { ConsoleSnapshot, type ConsoleStatement } from '../../../src/console/data/console-snapshot.ts';
import { readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import { modelNames, readModel } from '../../../src/pipeline/sql/sql-model.ts';
import { coldPages, inTurn } from '../../bench/console/cold-pages.ts';
import { smallNetwork } from './small-network.ts';
import { slow } from '../../support/slow.ts';

const network = smallNetwork();
/** One statement runs at a time, for everybody at the console: a page of many would have the others wait. */
const maxStatements = 4;

it(`no page runs more than ${maxStatements} statements on its snapshot`, slow, async () => {
  const asked = vi.spyOn(ConsoleSnapshot.prototype, 'askSql');
  const { current } = network.pipeline.data;
  const pages = await withDuckDB(join(current, analyticsFile), readOnly, (connection) =>
    coldPages(connection, network.snapshots),
  );
  const counts: [address: string, statements: number][] = [];
  for (const { address } of inTurn(pages)) {
    asked.mockClear();
    const { status } = await network.look(address);
    expect(status, address).toBeLessThan(500);
    counts.push([address, asked.mock.calls.length]);
  }
  expect(counts.filter(([, statements]) => statements > maxStatements)).toEqual([]);
  // The spy sees what it should.
  expect(Math.max(...counts.map(([, statements]) => statements))).toBeGreaterThan(1);
});

/** Parameters with which every statement returns rows. */
const parameterSets = ['7', '8', '9'].flatMap((offer_id, index) => {
  const path = ['counts', 'early', 'nameless'][index] ?? '';
  const given = { offer_id, id: offer_id, newest: '100', site_key: 'wall', click_id: path, file: String(index + 1) };
  const range = { from: '2026-11-10', to: '2026-11-21' };
  const filter = {
    user: '',
    site: '',
    since: '2026-11-10T00:00:00Z',
    search: '',
    source: '',
    status: '',
    kind: '',
    path: '',
    run: index === 0 ? '' : '1',
  };
  return ['epc', 'offers'].map((name) => ({ ...given, ...range, ...filter, name }));
});
/** The small network has no rejected row, no warning and no report of an earlier day. */
const withoutRows = new Set([
  'file_reject_reasons',
  'file_rejects',
  'file_warnings',
  'found_conversions',
  'reject_reasons',
]);

it('a column that its header does not call nullable is never NULL', slow, async () => {
  const snapshot = await ConsoleSnapshot.open(network.pipeline.data.current);
  const isNullable = (folder: 'console' | 'marts', name: string, column: string): boolean =>
    [...(readModel(folder, name).nullable ?? [])].some((entry) => {
      const [, mart] = /^as in (\w+)$/.exec(entry) ?? [];
      return mart === undefined ? entry === column : isNullable('marts', mart, column);
    });
  try {
    for (const statement of modelNames('console') as ConsoleStatement[]) {
      const rows: object[] = [];
      for (const parameters of parameterSets) rows.push(...(await snapshot.ask(statement, { parameters })).rows);
      expect(rows.length > 0, `rows of ${statement}`).toBe(!withoutRows.has(statement));
      const absent = rows.flatMap((row) =>
        Object.entries(row).flatMap(([name, value]) => (value === null ? [name] : [])),
      );
      const wrong = [...new Set(absent)].filter((column) => !isNullable('console', statement, column));
      expect(wrong, statement).toEqual([]);
    }
  } finally {
    snapshot.retire();
  }
});
