import { expect, it } from 'vitest';
import { isInterruption, untilInterrupted } from '../../../src/kit/duckdb/interruption.ts';
import { inMemory, withDuckDB } from '../../../src/kit/duckdb/open.ts';

const endless =
  'SELECT count(*) FROM range(10_000_000_000) AS a, range(1_000_000) AS b WHERE a.range % 7 = b.range % 11';

it('interrupts the statement that runs, whichever of several it is, and leaves the connection usable', async () => {
  await withDuckDB(inMemory, {}, async (connection) => {
    const stopping = new AbortController();
    const work = async () => {
      await connection.run('CREATE TABLE before AS SELECT 1 AS one');
      stopping.abort();
      await connection.run(endless);
    };
    const error: unknown = await untilInterrupted(connection, stopping.signal, work, 0).catch(
      (caught: unknown) => caught,
    );
    expect(isInterruption(error)).toBe(true);
    await connection.run('SELECT one FROM before');
  });
});

it('interrupts nothing where the work ends by itself', async () => {
  await withDuckDB(inMemory, {}, async (connection) => {
    const answer = await untilInterrupted(connection, AbortSignal.abort(), async () => {
      await connection.run('SELECT 1');
      return 'done';
    });
    expect(answer).toBe('done');
  });
});
