import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { endOf } from '../support/commands.ts';
import { slow } from '../support/slow.ts';

it('a rate that goes and comes again: no count sinks, and words say what counts', slow, async () => {
  const rates = { EUR: '1.10', GBP: '1.30' };
  await using pipeline = await PipelineUnderTest.create(new Date('2026-03-10T09:00:00Z'), { settings: { rates } });
  const ingested = async (...options: string[]) => {
    const { code, stdout } = await endOf(pipeline.data.root, 'run', 'refresh', ...options);
    expect(code).toBe(0);
    return stdout.split('\n').filter((line) => /^ {2}(ingested|read again) /.test(line));
  };
  await pipeline.landOffers('net', [
    { external_id: 'eur', title: 'Eur', payout: '1', currency: 'EUR' },
    { external_id: 'gbp', title: 'Gbp', payout: '1', currency: 'GBP' },
    { external_id: 'usd', title: 'Usd', payout: '1' },
  ]);
  expect(await ingested()).toEqual([
    '  ingested   1 file, 3 rows: 3 accepted, 0 duplicates, 0 rejected; 0 files quarantined',
  ]);

  const nothing = '  ingested   0 files, 0 rows: 0 accepted, 0 duplicates, 0 rejected; 0 files quarantined';
  await pipeline.configure({ rates: { EUR: '1.10' } });
  expect(await ingested()).toEqual([
    nothing,
    '  read again 1 file, since what decides how it is read has changed: 1 row counts no more',
  ]);
  await pipeline.configure({});
  const { stdout } = await endOf(pipeline.data.root, 'run', 'refresh', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    ingested: { files: 0, readAgain: 1, rows: 0, accepted: 0, rejected: 0, withdrawn: 1 },
  });
  await pipeline.configure({ rates });
  expect(await ingested()).toEqual([
    '  ingested   0 files, 2 rows: 2 accepted, 0 duplicates, 0 rejected; 0 files quarantined',
    '  read again 1 file, since what decides how it is read has changed: 2 rows count from now on',
  ]);
  await pipeline.configure({ rates: { EUR: '1.20', GBP: '1.30' } });
  expect(await ingested()).toEqual([
    nothing,
    '  read again 1 file, since what decides how it is read has changed: as many rows count as before',
  ]);
});

it('files that no run stood for before: a plan says one file, not 1 files', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-03-10T09:00:00Z'));
  await pipeline.landOffers('net', [{ external_id: 'a', title: 'A', payout: '1' }]);
  const { stdout } = await endOf(pipeline.data.root, 'run', 'refresh', '--dry-run');
  expect(stdout).toMatch(/ would read 1 file, \d+ bytes; 0 ignored\n0 daily reports .*, 0 postbacks due\n/);
});

it('a refresh that could read no file and has no offer says so loudly, with what to do', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-03-10T09:00:00Z'));
  const folder = join(pipeline.data.landing, 'clicks');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'theirs.csv'), 'visit time;who\n2026-03-10 01:01;u\n');
  const { code, stdout } = await endOf(pipeline.data.root, 'run', 'refresh');
  expect(code).toBe(0);
  const [last, before] = stdout.trimEnd().split('\n').toReversed();
  expect(before).toMatch(
    /NOTHING WAS LOADED: .*clicks\/theirs\.csv.* has visit time, who.*offerline inspect <file> --write/,
  );
  expect(last).toMatch(/NO OFFER IS ACTIVE.*data\/fields\.md/);
  await pipeline.landOffers('net', [{ external_id: 'a', title: 'A', payout: '1' }]);
  expect((await endOf(pipeline.data.root, 'run', 'refresh', '--json')).stdout).toContain('"alarms": []');
});
