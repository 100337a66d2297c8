import fc from 'fast-check';
import { expect } from 'vitest';
import { it } from '../../../support/landing-test.ts';
import { click, type LogLanding } from '../../../support/log-landing.ts';
import { rounds } from '../../../support/rounds.ts';
import { landedFile } from './landed-file.ts';

async function brokenLaws(landing: LogLanding): Promise<unknown[]> {
  return landing.query(
    `SELECT path, rows, accepted, duplicates, rejected, warnings FROM ingest_files
     WHERE rows <> accepted + duplicates + rejected OR conflicts > duplicates
       OR rejected <> (SELECT count(*) FROM rejects WHERE rejects.file_id = ingest_files.file_id)
       OR rejected <> (SELECT count(DISTINCT line) FROM rejects WHERE rejects.file_id = ingest_files.file_id)
       OR (status = 'quarantined' AND rows <> 0)
     UNION ALL SELECT 'events', rows, stored, 0, 0, 0 FROM (SELECT coalesce((SELECT sum(accepted) FROM ingest_files WHERE kind <> 'offers'), 0) AS rows, coalesce((SELECT sum(rows) FROM event_files), 0) AS stored) WHERE rows <> stored`,
  );
}

it('whatever lands, no run fails, the ledger adds up, and a good file beside it is loaded', async ({ landing }) => {
  const file = await landedFile();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 5 }), async (files) => {
      run++;
      for (const [index, { name, content }] of files.entries())
        await landing.put(name.replace(/\/([^/]*)$/, `/${run}-${index}-$1`), content);
      await landing.put(`clicks/${run}-good.ndjson`, [click(`good-${run}`)]);
      await landing.ingest();
      expect(await brokenLaws(landing)).toEqual([]);
      expect(
        await landing.query(`SELECT status, accepted FROM ingest_files WHERE path = 'clicks/${run}-good.ndjson'`),
      ).toEqual([{ status: 'loaded', accepted: 1 }]);
    }),
    { numRuns: rounds(8, 16), seed: 20_261_118 },
  );
  expect(run).toBeGreaterThan(5);
  const statuses = await landing.query(
    'SELECT status, count(*) > 0 AS any_file, sum(rejected) >= 0 AS counted FROM ingest_files GROUP BY status ORDER BY status',
  );
  expect(statuses.map(({ status }) => status)).toEqual(expect.arrayContaining(['loaded', 'quarantined']));
  const kinds = await landing.query(
    `SELECT kind FROM ingest_files WHERE status = 'loaded' AND accepted > 0 GROUP BY kind ORDER BY kind`,
  );
  expect(kinds).toEqual([{ kind: 'clicks' }, { kind: 'conversions' }, { kind: 'offers' }]);
});
