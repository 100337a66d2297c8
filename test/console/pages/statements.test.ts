import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { ConsoleSnapshot } from '../../../src/console/data/console-snapshot.ts';
import { readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
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
